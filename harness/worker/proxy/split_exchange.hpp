#pragma once

#include <memory>
#include <optional>

#include "worker/proxy/replay_source.hpp"

namespace dlbench::worker {

/// An exchange as two halves, made one after the other, with any array of the producer's type: the
/// consumer's requests, and the import of their answers. Where the consumer makes no request, the
/// second half is all.
class SplitExchange {
 public:
  /// Constructed as ReplaySource; an empty recording: the consumer knows the type itself. Throws
  /// Failure.
  SplitExchange(ImportCall& import_call, PyObject* array, Shown shown, const Recording& recording,
                bool forwarded);

  /// Makes the consumer's requests.
  const Recording& recording() const;
  /// Calls `__dlpack__` with that stream from now on; null: with none.
  void set_stream(PyObject* stream);

  /// Call before give: does dlbench's own costly preparation. The array must live until `end`.
  void begin(PyObject* array);
  void give();
  /// New reference.
  Ref take();
  void end();

 private:
  ImportCall& import_call_;
  PyObject* array_ = nullptr;
  std::optional<ReplaySource> source_;
  std::unique_ptr<PatchedType::Scope> scope_;
};

}  // namespace dlbench::worker

#pragma once

#include <memory>
#include <optional>

#include "worker/proxy/replay_source.hpp"

namespace dlbench::worker {

/// An exchange as its two halves, made one after the other, with any array of the producer's type:
/// what the consumer asks of it, and what the consumer does with the answers. Where the consumer
/// asks nothing, all of it is the second half.
class SplitExchange {
 public:
  /// As ReplaySource; an empty recording: the consumer knows the type itself. Throws Failure.
  SplitExchange(ImportCall& import_call, PyObject* array, Shown shown, const Recording& recording,
                bool forwarded);

  /// What the consumer asks.
  const Recording& recording() const;
  /// Has `__dlpack__` called with that stream from now on; null: with none.
  void set_stream(PyObject* stream);

  /// Before give: what may cost time of our own. The array must live until `end`.
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

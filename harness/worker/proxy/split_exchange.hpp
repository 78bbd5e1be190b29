#pragma once

#include <memory>
#include <optional>

#include "worker/proxy/replay_source.hpp"

namespace dlbench::worker {

/// An exchange in two halves, for any array of the producer's type: the consumer's requests, and
/// the import of the answers. Without requests the second half is the whole exchange.
class SplitExchange {
 public:
  /// The arguments are those of ReplaySource. An empty recording means that the consumer recognizes
  /// the type. Throws Failure.
  SplitExchange(ImportCall& import_call, PyObject* array, Shown shown, const Recording& recording,
                bool forwarded);

  /// The consumer's requests.
  const Recording& recording() const;
  /// Passes this stream to `__dlpack__` from now on; null: passes none.
  void set_stream(PyObject* stream);

  /// Does dlbench's costly preparations. Call before export_array(). The array must live until
  /// end().
  void begin(PyObject* array);
  void export_array();
  /// New reference.
  Ref import_array();
  void end();

 private:
  ImportCall& import_call_;
  PyObject* array_ = nullptr;
  std::optional<ReplaySource> source_;
  std::unique_ptr<PatchedType::Scope> scope_;
};

}  // namespace dlbench::worker

#pragma once

#include <memory>
#include <optional>

#include "worker/proxy/stand_in.hpp"

namespace dlbench::worker {

/// An exchange as its two halves, made one after the other, with any array of the producer's type:
/// what the consumer asks of it, and what the consumer does with the answers. Where the consumer
/// asks nothing, all of it is the second half.
class Handing {
 public:
  /// As StandIn; an empty tape: the consumer knows the type itself. Throws Failure.
  Handing(Crossing& crossing, PyObject* array, Shown shown, const Tape& tape, bool forwarded);

  /// What the consumer asks.
  const Tape& tape() const;
  /// Has `__dlpack__` called with that stream from now on; null: with none.
  void set_stream(PyObject* stream);

  /// Before give: what may cost time of our own. The array must live until `end`.
  void begin(PyObject* array);
  void give();
  /// New reference.
  Ref take();
  void end();

 private:
  Crossing& crossing_;
  PyObject* array_ = nullptr;
  std::optional<StandIn> stand_in_;
  std::unique_ptr<PatchedType::Scope> scope_;
};

}  // namespace dlbench::worker

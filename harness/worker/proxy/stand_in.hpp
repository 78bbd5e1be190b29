#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/library/crossing.hpp"
#include "worker/proxy/patched_type.hpp"
#include "worker/proxy/relay.hpp"

namespace dlbench::worker {

/// What a consumer is shown while a replay answers for the array, chosen so that it takes the same
/// path as with the array itself.
class StandIn {
 public:
  enum class Way {
    relay,    ///< an object of ours that shows the same protocols
    type,     ///< the array itself, its type's methods patched
    capsule,  ///< nothing: the consumer takes a capsule
  };

  /// `forwarded`: the exchange itself goes through a relay, so that its cost is in both. Throws
  /// Failure where the consumer asks another thing of the array than of a relay.
  StandIn(Crossing& crossing, PyObject* array, Shown shown, const Tape& tape, bool forwarded);

  Way way() const { return way_; }
  /// "relay", "type" or "capsule".
  std::string name() const;
  Replay& replay() { return *replay_; }
  const Tape& tape() const { return replay_->tape(); }

  /// The consumer's half of one exchange, after all requests were played. New reference, or null
  /// with an exception set.
  PyObject* import(PyObject* array) {
    switch (way_) {
      case Way::relay:
        return crossing_(relay_->get());
      case Way::type:
        return crossing_(array);
      case Way::capsule:
        break;
    }
    PyObject* capsule = replay_->give(tape().front().name);
    PyObject* result = capsule == nullptr ? nullptr : crossing_.take(capsule);
    Py_XDECREF(capsule);
    return result;
  }

  /// Has to be alive while import() is called.
  PatchedType::Scope scope();

  /// Asks request `i` of the stand-in as a consumer would. 0, or -1 with an exception set, which
  /// tells nothing where the tape says that it raises.
  int ask(std::size_t i);
  /// Does asking the stand-in cost what the exchange itself does not pay?
  bool has_floor() const { return way_ != Way::capsule && !forwarded_; }

 private:
  Crossing& crossing_;
  bool forwarded_;
  Way way_ = Way::relay;
  std::optional<PatchedType> patched_;
  std::unique_ptr<Replay> replay_;
  std::optional<ReplayingRelay> relay_;
  const DLPackExchangeAPI* api_ = nullptr;      // of the relay's type
  std::vector<std::vector<PyObject*>> stacks_;  // as in Replay
};

}  // namespace dlbench::worker

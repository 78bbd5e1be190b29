#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// What an exchange on the simulated device does about streams: five ways to hand over, three to
/// let go of memory that is still being read.
enum class Kind { Nothing, Event, Host, Wrong, HostWrong, Late, Deferred, Waiting };

inline constexpr std::array<std::string_view, 8> kKinds{
    "nothing", "event", "host", "wrong", "host-wrong", "late", "deferred", "waiting"};

/// The word that the classifier has to find for it: of kWaits or of kLateFree.
std::string_view truth(Kind kind);

constexpr bool is_about_freeing(Kind kind) {
  return kind >= Kind::Late;
}

/// An exchange between streams of its own. One serves many kinds in turn: making and freeing
/// device memory waits for the whole device.
class Planted {
 public:
  explicit Planted(Kind kind);
  void set(Kind kind);
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
  ~Planted();

  /// Valid as long as this.
  const Queue& queue() const { return queue_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  Queue queue_;
};

}  // namespace dlbench::sync

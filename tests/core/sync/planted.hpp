#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// The behavior of an exchange on the simulated device: five kinds of synchronization, and three
/// ways to free memory that is still being read.
enum class Kind { Nothing, Event, Host, Wrong, HostWrong, Late, Deferred, Waiting };

inline constexpr std::array<std::string_view, 8> kKinds{
    "nothing", "event", "host", "wrong", "host-wrong", "late", "deferred", "waiting"};

/// The word of kWaits, or of LateFree::word, that the classifier must find.
std::string_view truth(Kind kind);

constexpr bool is_about_freeing(Kind kind) {
  return kind >= Kind::Late;
}

/// An exchange between two streams of its own. One object serves many kinds, because allocating and
/// freeing device memory waits for the whole device.
class Planted {
 public:
  explicit Planted(Kind kind);
  void set(Kind kind);
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
  ~Planted();

  /// Valid as long as this object.
  const Queue& queue() const { return queue_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  Queue queue_;
};

}  // namespace dlbench::sync

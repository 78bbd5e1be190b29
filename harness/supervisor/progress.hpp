#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "supervisor/supervisor.hpp"

namespace dlbench::supervisor {

/// Reports the number of finished units of work to the observer, at most twenty times a second. The
/// number never decreases.
class Progress {
 public:
  /// `total` is the number of units. `count_done` returns the number of finished ones, including
  /// those of earlier sessions.
  Progress(Observer& observer, std::size_t total, std::function<std::size_t()> count_done);

  /// Sets the current activity.
  void activity(const std::string& what);

  /// Changes the number of units that have had their first rounds; they count as finished.
  void pending(std::ptrdiff_t change);
  void forget(std::ptrdiff_t count) noexcept;

  /// Reports, unless the last report was a moment ago.
  void tick();
  void report();

 private:
  Observer& observer_;
  std::size_t total_;
  std::function<std::size_t()> count_done_;
  double reported_s_ = 0;
  std::size_t done_ = 0;
  std::size_t pending_ = 0;
  std::string activity_ = "starting";
};

}  // namespace dlbench::supervisor

#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "fleet/fleet.hpp"

namespace dlbench::fleet {

/// Reports to the observer how many units of work are done, at most twenty times a second. Every
/// unit is of the same kind from the first to the last, and the number never decreases.
class Progress {
 public:
  /// `total` units, of which `count_done` counts those that are done, also by earlier sessions.
  Progress(Observer& observer, std::size_t total, std::function<std::size_t()> count_done);

  /// What is being done from now on.
  void activity(const std::string& what);

  /// Units that have had their first rounds and wait for more: they count as done.
  void pending(std::ptrdiff_t change);
  void forget(std::ptrdiff_t count) noexcept;

  /// Reports, unless it reported a moment ago.
  void tick();
  void tell();

 private:
  Observer& observer_;
  std::size_t total_;
  std::function<std::size_t()> count_done_;
  double reported_s_ = 0;
  std::size_t done_ = 0;
  std::size_t pending_ = 0;
  std::string activity_ = "starting";
};

}  // namespace dlbench::fleet

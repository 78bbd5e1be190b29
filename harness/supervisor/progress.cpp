#include "supervisor/progress.hpp"

#include <algorithm>
#include <utility>

#include "supervisor/process/worker.hpp"

namespace dlbench::supervisor {

Progress::Progress(Observer& observer, std::size_t total, std::function<std::size_t()> count_done)
    : observer_(observer), total_(total), count_done_(std::move(count_done)) {}

void Progress::activity(const std::string& what) {
  activity_ = what;
  tick();
}

void Progress::pending(std::ptrdiff_t change) {
  forget(-change);
  tick();
}

void Progress::forget(std::ptrdiff_t count) noexcept {
  pending_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(pending_) - count);
}

void Progress::tick() {
  if (now_s() - reported_s_ >= 0.05) report();
}

void Progress::report() {
  reported_s_ = now_s();
  // Results that are lost with a dead worker are measured again, so the number must not decrease.
  done_ = std::max(done_, std::min(count_done_() + pending_, total_));
  observer_.progress(done_, total_, activity_);
}

}  // namespace dlbench::supervisor

#include "fleet/progress.hpp"

#include <algorithm>

#include "fleet/worker.hpp"

namespace dlbench::fleet {

Progress::Progress(Observer& observer, const Ledger& ledger, double budget_s, std::size_t excluded)
    : observer_(observer),
      ledger_(ledger),
      excluded_(excluded),
      budget_s_(budget_s),
      begin_(now_s()),
      before_(ledger.recorded()) {}

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
  if (now_s() - told_ >= 0.05) tell();
}

void Progress::tell() {
  told_ = now_s();
  observer_.progress(excluded_ + done(), excluded_ + ledger_.total(), activity_, eta());
}

std::size_t Progress::done() const {
  return std::min(ledger_.recorded() + pending_, ledger_.total());
}

double Progress::eta() const {
  // Refinement takes about this long for a cell, on top of the imports and the first rounds.
  constexpr double kRefining = 0.03;
  const double used = now_s() - begin_;
  const std::size_t fresh = done() - std::min(done(), before_);
  double left = -1;
  if (fresh > 0) {
    const double each = used / static_cast<double>(fresh);
    left = each * static_cast<double>(ledger_.total() - done()) +
           kRefining * static_cast<double>(ledger_.total() - ledger_.recorded());
  }
  if (budget_s_ <= 0) return left;
  const double most = std::max(0.0, budget_s_ - used);
  return left < 0 ? most : std::min(left, most);
}

}  // namespace dlbench::fleet

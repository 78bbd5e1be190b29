#include "worker/exchange/call_phases.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "call/body.h"
#include "stats/stats.hpp"
#include "worker/base/spent.hpp"
#include "worker/timing/stamps.hpp"

namespace dlbench::worker {
namespace {

using Clock = std::chrono::steady_clock;

// When the body of the last call on this thread began; 0: it has not begun.
thread_local std::uint64_t began = 0;

template <typename Stamp>
void note_body(std::size_t) {
  began = Stamp::now();
}

/// Calls `note` in the body of each call in its scope.
class Watched {
 public:
  explicit Watched(void (*note)(std::size_t)) { dlbench_call_record.watch = note; }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { dlbench_call_record.watch = nullptr; }
};

}  // namespace

double CallPhases::plain(std::uint64_t iterations) {
  const Clock::time_point begin = Clock::now();
  for (std::uint64_t i = 0; i < iterations; ++i) checked(call_.import_call()(call_.next_input()));
  return ns_since(begin);
}

// Each stamp ends one part and begins the next.
template <typename Stamp>
CallPhases::Block CallPhases::stamped(std::uint64_t iterations) {
  const Watched watched(&note_body<Stamp>);
  std::uint64_t before = 0, after = 0;
  const Clock::time_point begin = Clock::now();
  std::uint64_t last = Stamp::now();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    began = 0;
    checked(call_.import_call()(call_.next_input()));
    if (began == 0) {
      throw Failure{Outcome::no_protocol, "",
                    "the body does not run on the calling thread before the call returns"};
    }
    const std::uint64_t now = Stamp::now();
    before += began - last;
    after += now - began;
    last = now;
  }
  const double ns = ns_since(begin);
  const double tick_ns = ns / static_cast<double>(std::max<std::uint64_t>(1, before + after));
  return {ns, static_cast<double>(before) * tick_ns, static_cast<double>(after) * tick_ns};
}

PhaseReading CallPhases::round(std::uint64_t iterations, std::uint64_t prelude,
                               std::uint64_t seed) {
  constexpr std::uint64_t kBlocks = 8;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(iterations, 1, kBlocks);
  const std::uint64_t each = std::max<std::uint64_t>(1, iterations / blocks);
  std::mt19937_64 random(seed);
  {
    const Spent::Span counted(Spent::On::library);
    plain(prelude);
  }
  const Spent::Span counted(Spent::On::timing);
  std::vector<double> plain_ns, stamped_ns, before_ns, after_ns;
  const auto time_plain = [&] { plain_ns.push_back(plain(each)); };
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const bool is_plain_first = random() % 2 == 0;
    if (is_plain_first) time_plain();
    const Block block = Stamps::has_invariant_counter() ? stamped<Stamps::Counter>(each)
                                                        : stamped<Stamps::Steady>(each);
    stamped_ns.push_back(block.ns);
    before_ns.push_back(block.before_ns);
    after_ns.push_back(block.after_ns);
    if (!is_plain_first) time_plain();
  }
  const auto n = static_cast<double>(each);
  const double alone_ns = Stamps::alone_ns();
  const double stamp_ns = std::clamp((stats::median(stamped_ns) - stats::median(plain_ns)) / n / 2,
                                     0.4 * alone_ns, 1.1 * alone_ns);
  PhaseReading reading;
  reading.exchange_ns = stats::median(plain_ns) / n;
  reading.import_ns = stats::median(before_ns) / n - stamp_ns;
  reading.release_ns = stats::median(after_ns) / n - stamp_ns;
  reading.unexplained_ns = reading.exchange_ns - reading.import_ns - reading.release_ns;
  return reading;
}

}  // namespace dlbench::worker

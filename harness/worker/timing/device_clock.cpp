#include "worker/timing/device_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

namespace dlbench::worker {
namespace {

constexpr double kShortestHoldNs = 4e6;
constexpr double kLongestHoldNs = 2e8;
// More launches fill a driver's queue, and the host then waits for the end of the delay.
constexpr double kMostExchanges = 64;

double cpu_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double wall_now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

std::uint64_t put_nothing(void*, std::uint64_t times) {
  return times;
}

}  // namespace

DeviceClock::DeviceClock(const DeviceAt& at, device::Stream stream)
    : at_(at), stream_(stream), begin_(*at.table), end_(*at.table) {
  const InDevice inside(at_);
  require(*at_.table, "event", begin_.create(0U));
  require(*at_.table, "event", end_.create(0U));
}

double DeviceClock::elapsed_ns() const {
  float milliseconds = 0;
  require(*at_.table, "event elapsed",
          at_.table->event_elapsed(&milliseconds, begin_.get(), end_.get()));
  return static_cast<double>(milliseconds) * 1e6;
}

double DeviceClock::measure_step() {
  // Enough that two of the times differ by one step, if the step is some tens of nanoseconds.
  constexpr int kRows = 128;
  // Not a multiple of a likely step.
  constexpr std::int64_t kMoreNs = 173;
  // Drivers report `float` milliseconds, so equal times may differ by a rounding error.
  constexpr double kRoundingNs = 0.5;
  const device::Table& table = *at_.table;
  const InDevice inside(at_);
  std::vector<double> times;
  for (int i = 0; i < kRows; ++i) {
    require(table, "event record", table.event_record(begin_.get(), stream_));
    require(table, "delay", table.delay(stream_, i * kMoreNs, 0, 0, 0));
    require(table, "event record", table.event_record(end_.get(), stream_));
    settle(at_);
    times.push_back(elapsed_ns());
  }
  std::sort(times.begin(), times.end());
  // If all times are equal, the step is at least as long as the longest delay.
  double step = std::max(times.back(), static_cast<double>(kRows * kMoreNs));
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double difference = times[i] - times[i - 1];
    if (difference > kRoundingNs) step = std::min(step, difference);
  }
  return step;
}

DeviceClock::Row DeviceClock::row(measure::Body body, std::uint64_t iterations, double hold_ns) {
  const device::Table& table = *at_.table;
  Row taken;
  {
    const InDevice inside(at_);
    settle(at_);
    require(table, "delay", table.delay(stream_, static_cast<std::int64_t>(hold_ns), 0, 0, 0));
    require(table, "event record", table.event_record(begin_.get(), stream_));
  }
  const double cpu_begin = cpu_now_ns();
  const std::uint64_t done = body.run(body.self, iterations);
  taken.cpu_ns = cpu_now_ns() - cpu_begin;
  if (done != iterations) throw fetch_failure();
  const InDevice inside(at_);
  require(table, "event record", table.event_record(end_.get(), stream_));
  // Queried last, because the device may wait for the host until the second event is submitted.
  taken.ahead = table.event_query(begin_.get()) == device::not_ready;
  settle(at_);
  taken.ns = elapsed_ns();
  return taken;
}

DeviceClock::Row DeviceClock::row_ahead(measure::Body body, std::uint64_t iterations,
                                        double hold_ns) {
  constexpr int kTries = 4;
  Row taken;
  for (int i = 0; i < kTries && !taken.ahead; ++i) taken = row(body, iterations, hold_ns);
  return taken;
}

std::uint64_t DeviceClock::calibrate(measure::Body body, double call_ns, std::uint64_t most) {
  // All streams of a device have the same timer.
  static std::map<std::pair<const device::Table*, int>, double> steps;
  double& step_ns = steps[{at_.table, at_.ordinal}];
  if (!(step_ns > 0)) step_ns = measure_step();
  step_ns_ = step_ns;
  hold_ns_ = std::clamp(4 * call_ns, kShortestHoldNs, kLongestHoldNs);
  const double limit = std::min(static_cast<double>(most), kMostExchanges);
  auto iterations =
      static_cast<std::uint64_t>(std::clamp(hold_ns_ / (4 * std::max(call_ns, 1.0)), 1.0, limit));
  for (; hold_ns_ <= kLongestHoldNs; hold_ns_ *= 2, iterations = (iterations + 1) / 2) {
    if (row(body, iterations, hold_ns_).ahead) return iterations;
  }
  throw Failure{Outcome::unsupported, "",
                "the host waits for the consumer's stream, so the device's own time is unknown"};
}

measure::Reading DeviceClock::round(measure::Body body, std::uint64_t iterations) {
  const double begin = wall_now_ns();
  // Only two events are submitted, so the shortest delay is enough.
  const Row empty = row_ahead({&put_nothing, nullptr}, iterations, kShortestHoldNs);
  const Row full = row_ahead(body, iterations, hold_ns_);
  const auto n = static_cast<double>(iterations);
  measure::Reading reading{(full.ns - empty.ns) / n, full.cpu_ns / n, true};
  reading.behind = !(empty.ahead && full.ahead);
  reading.empty_ns = empty.ns;
  reading.spent_ns = wall_now_ns() - begin;
  return reading;
}

}  // namespace dlbench::worker

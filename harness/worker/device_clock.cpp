#include "worker/device_clock.hpp"

#include <algorithm>
#include <ctime>

namespace dlbench::worker {
namespace {

constexpr double kShortestHoldNs = 4e6;
constexpr double kLongestHoldNs = 2e8;
// Beyond so many launches a driver's queue is full, and the host waits for the delay's end.
constexpr double kMostExchanges = 64;

double cpu_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

DeviceClock::DeviceClock(const DeviceAt& at, device::Stream stream) : at_(at), stream_(stream) {
  require(*at_.table, "context", at_.table->enter(at_.ordinal));
  require(*at_.table, "event", at_.table->event_create(&begin_, 0));
  require(*at_.table, "event", at_.table->event_create(&end_, 0));
}

DeviceClock::~DeviceClock() {
  if (begin_ != nullptr) at_.table->event_destroy(begin_);
  if (end_ != nullptr) at_.table->event_destroy(end_);
}

DeviceClock::Taken DeviceClock::take(measure::Body body, std::uint64_t iterations) {
  const device::Table& table = *at_.table;
  settle(at_);
  require(table, "delay", table.delay(stream_, static_cast<std::int64_t>(hold_ns_), 0, 0, 0));
  require(table, "event record", table.event_record(begin_, stream_));
  const double cpu_begin = cpu_now_ns();
  const std::uint64_t done = body.run(body.self, iterations);
  const double cpu_ns = cpu_now_ns() - cpu_begin;
  Taken taken;
  taken.ahead = table.event_query(begin_) == device::not_ready;
  require(table, "event record", table.event_record(end_, stream_));
  if (done != iterations) throw fetch_failure();
  settle(at_);
  float milliseconds = 0;
  require(table, "event elapsed", table.event_elapsed(&milliseconds, begin_, end_));
  const auto n = static_cast<double>(iterations);
  taken.reading = {static_cast<double>(milliseconds) * 1e6 / n, cpu_ns / n, milliseconds > 0};
  taken.reading.behind = !taken.ahead;
  return taken;
}

std::uint64_t DeviceClock::calibrate(measure::Body body, double call_ns, std::uint64_t most) {
  hold_ns_ = std::clamp(4 * call_ns, kShortestHoldNs, kLongestHoldNs);
  const double limit = std::min(static_cast<double>(most), kMostExchanges);
  auto iterations =
      static_cast<std::uint64_t>(std::clamp(hold_ns_ / (4 * std::max(call_ns, 1.0)), 1.0, limit));
  bool told = false;
  for (; hold_ns_ <= kLongestHoldNs; hold_ns_ *= 2, iterations = (iterations + 1) / 2) {
    const Taken taken = take(body, iterations);
    told = told || taken.reading.valid;
    if (taken.ahead && taken.reading.valid) return iterations;
  }
  throw Failure{Outcome::unsupported, "",
                told ? "the host waits for the consumer's stream: there is no time of the device "
                       "alone"
                     : "shorter than the device's clock can tell"};
}

measure::Reading DeviceClock::round(measure::Body body, std::uint64_t iterations) {
  constexpr int kTries = 4;
  Taken taken;
  for (int i = 0; i < kTries; ++i) {
    taken = take(body, iterations);
    if (taken.ahead && taken.reading.valid) break;
  }
  if (!taken.reading.valid) {
    throw Failure{Outcome::unsupported, "", "shorter than the device's clock can tell"};
  }
  return taken.reading;
}

}  // namespace dlbench::worker

#include "worker/exchange/timed_blocks.hpp"

#include <algorithm>

#include "model/contains.hpp"
#include "model/places.hpp"
#include "worker/base/garbage.hpp"
#include "worker/base/spent.hpp"
#include "worker/timing/counted.hpp"

namespace dlbench::worker {
namespace {

void warm_up(measure::Body body, std::uint64_t calls) {
  const Spent::Span counted(Spent::On::library);
  if (body.run(body.self, calls) != calls) throw fetch_failure();
}

}  // namespace

Block TimedBlocks::block(const std::string& clock) {
  return {call_.import_call(), call_.inputs(), call_.next(),
          clock == Clock::ready ? call_.ready() : nullptr};
}

// With an asynchronous consumer both clocks use the iterations that fill a block of `ready`,
// because calls alone return before their work is done.
void TimedBlocks::calibrate(const Order& order) {
  Block timed = block("ready");
  const Spent::Span counted(Spent::On::timing);
  const std::uint64_t iterations =
      measure::calibrate(timed.body(), order.round_ns, call_.most_iterations());
  if (iterations == 0) throw fetch_failure();
  calibrated_ = iterations;
  for (const std::string& clock : order.clocks) {
    if (clock != Clock::device) iterations_[clock] = iterations;
  }
  if (contains(order.clocks, Clock::device)) {
    prepare_device_clock(order);
  }
}

void TimedBlocks::drain() {
  if (call_.ready() != nullptr) call_.import_and_wait(call_.inputs()[call_.next()]);
}

measure::Reading TimedBlocks::round(const std::string& clock, std::uint64_t iterations,
                                    std::uint64_t prelude) {
  Block timed = block(clock);
  const measure::Body body = timed.body();
  warm_up(body, prelude);
  drain();
  if (clock == Clock::device) return device_round(body, iterations);
  const std::uint64_t calls = std::min(iterations, call_.most_iterations());
  const std::size_t first = call_.next();
  CallProof::begin();
  const measure::Reading reading = [&] {
    const Spent::Span counted(Spent::On::timing);
    return measure::round(body, calls);
  }();
  if (!reading.valid) throw fetch_failure();
  drain();
  // The drain is one more call, with the next set.
  if (call_.proof() != nullptr) {
    call_.proof()->require_calls(calls + (call_.ready() != nullptr ? 1 : 0), first);
  }
  collect_garbage();
  return reading;
}

void TimedBlocks::count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
                        std::vector<FrameNode>* names) {
  std::optional<Frames> frames;
  if (names != nullptr) frames.emplace();
  Block one = block(clock);
  // Starts with the same array in every round.
  call_.next() = 0;
  warm_up(one.body(), prelude);
  drain();
  call_.next() = 0;
  if (!counted(one.body(), std::min(iterations, call_.most_iterations()))) throw fetch_failure();
  drain();
  if (names != nullptr) *names = Frames::observed();
  collect_garbage();
}

void TimedBlocks::prepare_device_clock(const Order& order) {
  try {
    const std::string device = target_of(order.exchange);
    const DeviceAt at = device_named(device);
    const Ref stream = call_for_device(call_.consumer(), "stream", device);
    if (!at || !stream) {
      throw Failure{Outcome::unsupported, "",
                    "the adapter of " + order.exchange.consumer + " names no stream on " + device};
    }
    void* handle = PyLong_AsVoidPtr(stream.get());
    if (PyErr_Occurred() != nullptr) throw fetch_failure();
    device_clock_ = std::make_unique<DeviceClock>(at, handle);
    Block timed = block("call");
    const Spent::Span counted(Spent::On::timing);
    const double call_ns = order.round_ns / static_cast<double>(calibrated_);
    iterations_["device"] =
        device_clock_->calibrate(timed.body(), call_ns, call_.most_iterations());
  } catch (const Failure& failure) {
    without_["device"] = failure.reason;
  }
}

measure::Reading TimedBlocks::device_round(measure::Body body, std::uint64_t iterations) {
  if (!device_clock_) throw Failure{Outcome::refused, "", "the exchange has no clock `device`"};
  const measure::Reading reading = [&] {
    const Spent::Span counted(Spent::On::timing);
    return device_clock_->round(body, iterations);
  }();
  collect_garbage();
  return reading;
}

std::optional<double> TimedBlocks::device_step_ns() const {
  if (!device_clock_) return std::nullopt;
  return device_clock_->step_ns();
}

}  // namespace dlbench::worker

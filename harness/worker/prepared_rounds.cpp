#include <algorithm>
#include <optional>

#include "worker/counted.hpp"
#include "worker/garbage.hpp"
#include "worker/prepared.hpp"
#include "worker/spent.hpp"

// Blocks of calls: how many make one, timing one, counting one.
namespace dlbench::worker {
namespace {

void warm_up(measure::Body body, std::uint64_t calls) {
  const Spent::Span counted(Spent::On::library);
  if (body.run(body.self, calls) != calls) throw fetch_failure();
}

}  // namespace

Block Prepared::block(const std::string& clock) {
  return {crossing_, given_, next_, clock == "ready" ? ready_.get() : nullptr};
}

// With an asynchronous consumer both clocks take the iterations that fill a block of `ready`: a
// block of bare calls would run ahead of the work it starts.
void Prepared::calibrate(const Order& order) {
  Block timed = block("ready");
  const Spent::Span counted(Spent::On::timing);
  const std::uint64_t iterations =
      measure::calibrate(timed.body(), order.round_ns, most_iterations_);
  if (iterations == 0) throw fetch_failure();
  calibrated_ = iterations;
  for (const std::string& clock : order.clocks) {
    if (clock != "device") iterations_[clock] = iterations;
  }
  if (std::count(order.clocks.begin(), order.clocks.end(), "device") > 0) {
    prepare_device_clock(order);
  }
}

// Waits for what a block of bare calls left behind.
void Prepared::drain() {
  if (ready_) wait_for(cross_once(given_[next_]).get());
}

measure::Reading Prepared::round(const std::string& clock, std::uint64_t iterations,
                                 std::uint64_t prelude) {
  Block timed = block(clock);
  const measure::Body body = timed.body();
  warm_up(body, prelude);
  drain();
  if (clock == "device") return device_round(body, iterations);
  const measure::Reading reading = [&] {
    const Spent::Span counted(Spent::On::timing);
    return measure::round(body, std::min(iterations, most_iterations_));
  }();
  if (!reading.valid) throw fetch_failure();
  drain();
  collect_garbage();
  return reading;
}

void Prepared::count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
                     std::vector<FrameNode>* names) {
  std::optional<Frames> frames;
  if (names != nullptr) frames.emplace();
  Block one = block(clock);
  // The same arrays in the same order, whatever was called before.
  next_ = 0;
  warm_up(one.body(), prelude);
  drain();
  next_ = 0;
  if (!counted(one.body(), std::min(iterations, most_iterations_))) throw fetch_failure();
  drain();
  if (names != nullptr) *names = Frames::seen();
  collect_garbage();
}

}  // namespace dlbench::worker

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace dlbench::faulty {

/// A planted delay and its real durations: a spin takes longer than requested, a sleep even more.
class Delay {
 public:
  struct Taken {
    std::uint64_t count = 0;
    double mean_ns = 0;
    double usual_ns = 0;  ///< mean of the middle nine tenths of the last 512
  };

  explicit Delay(std::uint64_t ns) : ns_(ns), reading_(cost_of_reading()) {}

  /// Keeps the thread busy.
  void spin() {
    const std::uint64_t begin = now();
    std::uint64_t last = begin;
    // Begins with a high cost, in case the first reading is interrupted.
    std::uint64_t reading = 16 * reading_;
    do {
      const std::uint64_t before = std::exchange(last, now());
      // The current cost of a reading, which is several times higher on a busy machine.
      reading = std::min(reading, last - before);
    } while (last - begin + reading < ns_);
    keep(last - begin + reading);
  }

  /// Blocks the thread without using its CPU.
  void sleep() {
    const std::uint64_t begin = now();
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns_));
    keep(now() - begin + reading_);
  }

  Taken taken() const {
    Taken all{.count = count_.load()};
    if (all.count == 0) return all;
    all.mean_ns = static_cast<double>(sum_.load()) / static_cast<double>(all.count);
    std::vector<std::uint32_t> last(std::min<std::uint64_t>(all.count, kKept));
    std::copy_n(last_.begin(), last.size(), last.begin());
    std::sort(last.begin(), last.end());
    // Use the mean, because a spin is a whole number of readings, but the mean of a block, which is
    // compared with it, is not. The excluded tail contains preempted readings.
    const auto tail = static_cast<std::ptrdiff_t>(last.size() / 20);
    const double sum = std::accumulate(last.begin() + tail, last.end() - tail, 0.0);
    all.usual_ns = sum / static_cast<double>(static_cast<std::ptrdiff_t>(last.size()) - 2 * tail);
    return all;
  }

 private:
  static constexpr std::size_t kKept = 512;

  static std::uint64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }

  // The time from the first to the last reading omits the cost of one reading.
  static std::uint64_t cost_of_reading() {
    constexpr int kReadings = 1000;
    std::uint64_t best = UINT64_MAX;
    for (int block = 0; block < 10; ++block) {
      const std::uint64_t begin = now();
      std::uint64_t end = begin;
      for (int i = 0; i < kReadings; ++i) end = now();
      best = std::min(best, (end - begin) / kReadings);
    }
    return best;
  }

  // Deleters run on any thread. A lost reading is harmless, so no lock is needed.
  void keep(std::uint64_t ns) {
    const std::uint64_t index = count_.fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(ns, std::memory_order_relaxed);
    last_[index % kKept].store(static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, UINT32_MAX)),
                               std::memory_order_relaxed);
  }

  std::uint64_t ns_;
  std::uint64_t reading_;
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_{0};
  std::array<std::atomic<std::uint32_t>, kKept> last_{};
};

}  // namespace dlbench::faulty

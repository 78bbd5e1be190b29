#include "measure/round.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>
#include <string>

// How much is allocated at the moment, by everything in this process.
namespace {
std::int64_t live_allocations = 0;
}
void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  ++live_allocations;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  --live_allocations;
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  operator delete(memory);
}

namespace {

using namespace dlbench::measure;

/// Counts its calls; stops at one of them where asked to.
struct Counter {
  std::uint64_t calls = 0;
  std::uint64_t stop_at = std::numeric_limits<std::uint64_t>::max();

  bool operator()() { return ++calls != stop_at; }
  Body body() { return body_of(*this); }
};

void expect_no_reading(const Reading& reading) {
  EXPECT_FALSE(reading.valid);
  EXPECT_EQ(reading.ns, 0);
  EXPECT_EQ(reading.cpu_ns, 0);
}

TEST(Round, CallsTheBodyExactlyThatOften) {
  for (const std::uint64_t iterations : {1ULL, 2ULL, 1000ULL, 12'345ULL}) {
    Counter counter;
    const Reading reading = round(counter.body(), iterations);
    EXPECT_EQ(counter.calls, iterations);
    EXPECT_TRUE(reading.valid);
    EXPECT_GT(reading.ns, 0);
    EXPECT_GE(reading.cpu_ns, 0);
    EXPECT_TRUE(std::isfinite(reading.ns));
    EXPECT_TRUE(std::isfinite(reading.cpu_ns));
  }
}

TEST(Round, ABodyThatStopsLeavesNoReading) {
  for (const std::uint64_t stop_at : {1ULL, 500ULL, 1000ULL}) {
    Counter counter{0, stop_at};
    expect_no_reading(round(counter.body(), 1000));
    EXPECT_EQ(counter.calls, stop_at);
  }
  Counter counter;
  EXPECT_TRUE(round(counter.body(), 10).valid) << "a stopped round must not spoil the next";
}

TEST(Round, NothingToRunIsNoReading) {
  Counter counter;
  expect_no_reading(round(counter.body(), 0));
  expect_no_reading(round(counter.body(), std::numeric_limits<std::uint64_t>::max()));
  expect_no_reading(round({}, 10));
  EXPECT_EQ(counter.calls, 0U);
}

TEST(Round, PrintsNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Counter counter{0, 25};
  round(counter.body(), 20);
  round(counter.body(), 20);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Round, ManyRoundsHoldNoMoreMemoryThanFew) {
  Counter counter;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) round(counter.body(), 3);
  };
  rounds(100);
  const std::int64_t few = live_allocations;
  rounds(10'000);
  EXPECT_EQ(live_allocations, few);
  EXPECT_GT(live_allocations, 0);
}

// Google Benchmark takes its defaults from BENCHMARK_...; a round must not. It reads them when it
// is loaded, hence another process.
TEST(Round, TheEnvironmentHasNoSay) {
  if (std::getenv("BENCHMARK_REPETITIONS") != nullptr) GTEST_SKIP();
  if (!std::filesystem::exists("/proc/self/exe")) GTEST_SKIP() << "needs /proc";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "BENCHMARK_REPETITIONS=3 BENCHMARK_FILTER=none BENCHMARK_LIST_TESTS=true "
      "BENCHMARK_MIN_WARMUP_TIME=0.01 BENCHMARK_REPORT_AGGREGATES_ONLY=true "
      "BENCHMARK_OUT=/dev/full '" +
      self + "' --gtest_filter='Round.*' > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(CalibrateBody, FindsAPlausibleCountOrZero) {
  Counter counter;
  EXPECT_GT(calibrate(counter.body(), 1e5, 1'000'000), 1U);
  EXPECT_EQ(calibrate(counter.body(), 1e5, 5), 5U);
  Counter stopping{0, 3};
  EXPECT_EQ(calibrate(stopping.body(), 1e9, 1000), 0U);
}

TEST(Floors, AreFiniteAndAboveZero) {
  const Floors measured = floors();
  for (const double ns : {measured.empty_ns, measured.clock_ns}) {
    EXPECT_GT(ns, 0);
    EXPECT_LT(ns, 1e6);
  }
}

}  // namespace

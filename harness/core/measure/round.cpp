#include "measure/round.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace dlbench::measure {
namespace {

/// Stores the reading of a block and prints nothing.
class Keeper : public benchmark::BenchmarkReporter {
 public:
  Keeper() {
    SetOutputStream(&nowhere_);
    SetErrorStream(&nowhere_);
  }
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (runs.size() != 1 || runs.front().iterations <= 0) return;
    const auto iterations = static_cast<double>(runs.front().iterations);
    reading.ns = runs.front().real_accumulated_time * 1e9 / iterations;
    reading.cpu_ns = runs.front().cpu_accumulated_time * 1e9 / iterations;
  }

  Reading reading;

 private:
  std::ostream nowhere_{nullptr};
};

/// Registers the benchmark once and sets its number of iterations before each run, because a
/// registration for each round costs more.
class Loop {
 public:
  Loop() {
    // The environment (BENCHMARK_REPETITIONS=5 and the like) must not change a round.
    std::array<std::string, 10> flags{"dlbench",
                                      "--benchmark_list_tests=false",
                                      "--benchmark_filter=",
                                      "--benchmark_repetitions=1",
                                      "--benchmark_min_warmup_time=0",
                                      "--benchmark_enable_random_interleaving=false",
                                      "--benchmark_report_aggregates_only=false",
                                      "--benchmark_out=",
                                      "--benchmark_perf_counters=",
                                      "--v=0"};
    std::array<char*, 11> arguments{};
    std::transform(flags.begin(), flags.end(), arguments.begin(),
                   [](std::string& flag) { return flag.data(); });
    int count = static_cast<int>(flags.size());
    benchmark::Initialize(&count, arguments.data());
    registered_ = benchmark::RegisterBenchmark("dlbench_round",
                                               [this](benchmark::State& state) { block(state); });
    registered_->UseRealTime()->MeasureProcessCPUTime();
  }

  Reading run(Body body, std::uint64_t iterations) {
    body_ = body;
    completed_ = false;
    keeper_.reading = {};
    registered_->Iterations(static_cast<benchmark::IterationCount>(iterations));
    benchmark::RunSpecifiedBenchmarks(&keeper_, "dlbench_round");
    if (!completed_) return {};
    keeper_.reading.valid = keeper_.reading.ns > 0;
    return keeper_.reading;
  }

 private:
  void block(benchmark::State& state) {
    const benchmark::IterationCount all = state.max_iterations;
    while (state.KeepRunningBatch(all)) {
      const auto times = static_cast<std::uint64_t>(all);
      completed_ = body_.run(body_.self, times) == times;
      if (!completed_) {
        state.SkipWithError("stopped by its body");
        break;
      }
    }
  }

  Keeper keeper_;
  Body body_;
  bool completed_ = false;
  benchmark::internal::Benchmark* registered_ = nullptr;
};

constexpr std::uint64_t kMostIterations = std::numeric_limits<benchmark::IterationCount>::max();

double least_ns(Body body, std::uint64_t iterations) {
  constexpr int kReadings = 9;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kReadings; ++i) {
    if (const Reading reading = round(body, iterations); reading.valid) {
      least = std::min(least, reading.ns);
    }
  }
  return least;
}

}  // namespace

Reading round(Body body, std::uint64_t iterations) {
  static Loop loop;
  if (body.run == nullptr || iterations == 0 || iterations > kMostIterations) return {};
  return loop.run(body, iterations);
}

std::uint64_t calibrate(Body body, double target_ns, std::uint64_t most) {
  return calibrate(
      [body](std::uint64_t iterations) -> std::optional<double> {
        const Reading reading = round(body, iterations);
        if (!reading.valid) return std::nullopt;
        return reading.ns * static_cast<double>(iterations);
      },
      target_ns, std::min(most, kMostIterations));
}

Floors floors() {
  auto empty = [] {
    benchmark::ClobberMemory();
    return true;
  };
  auto clock = [] {
    auto now = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(now);
    return true;
  };
  return {least_ns(body_of(empty), 20'000), least_ns(body_of(clock), 1'000)};
}

}  // namespace dlbench::measure

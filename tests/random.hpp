#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>

namespace dlbench::stats {

/// Long simulations run one in so many of their trials: a sanitizer makes each ten times slower.
#ifdef __SANITIZE_ADDRESS__
inline constexpr std::size_t kOneIn = 4;
#else
inline constexpr std::size_t kOneIn = 1;
#endif

/// Random numbers that depend on the seed only. Distributions of standard libraries differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Above 0, below 1.
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  double exponential() { return -std::log(uniform()); }
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(end));
  }

 private:
  std::mt19937_64 engine_;
};

/// A seed of its own for each trial.
inline std::uint64_t mixed(std::uint64_t seed, std::size_t trial) {
  return seed * 0x9E3779B97F4A7C15ULL + trial;
}

}  // namespace dlbench::stats

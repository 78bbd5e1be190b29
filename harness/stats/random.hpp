#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace dlbench::stats {

/// The same numbers from the same seed with every standard library, whose own distributions differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform();  ///< above 0, below 1
  double normal();
  double exponential();
  std::size_t below(std::size_t end);

 private:
  std::mt19937_64 engine_;
};

/// A seed of its own for each trial.
inline std::uint64_t mixed(std::uint64_t seed, std::size_t trial) {
  return seed * 0x9E3779B97F4A7C15ULL + trial;
}

}  // namespace dlbench::stats

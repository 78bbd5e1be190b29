#include "stats/random.hpp"

#include <cmath>
#include <numbers>

namespace dlbench::stats {

double Random::uniform() {
  return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53;
}

double Random::normal() {
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

double Random::exponential() {
  return -std::log(uniform());
}

std::size_t Random::below(std::size_t end) {
  return static_cast<std::size_t>(uniform() * static_cast<double>(end));
}

}  // namespace dlbench::stats

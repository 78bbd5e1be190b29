#include <cmath>
#include <numbers>

#include "coverage.hpp"

namespace dlbench::stats {
namespace {

struct Family {
  const char* name;
  double (*draw)(Random&);  ///< of median 0 and a spread of about 1
};

double skewed(Random& random) {
  return random.exponential() - std::numbers::ln2;
}

// A steep middle and, in a tenth of the rounds, the work of other programs; either side alike, so
// that the median is known.
double with_outliers(Random& random) {
  const double usual = 0.4 * random.normal();
  if (random.uniform() > 0.1) return usual;
  return usual + (random.uniform() < 0.5 ? -4 : 4) * random.exponential();
}

// 60 in 100 rounds fast: the median is the fast mode's upper sixth, Phi(0.967) = 5/6.
double two_modes(Random& random) {
  constexpr double kMedian = 0.2 * 0.96742;
  const bool fast = random.uniform() < 0.6;
  return 0.2 * random.normal() - kMedian + (fast ? 0 : 2);
}

/// A cell's rounds lie scattered over a worker's whole time; neighbors are alike.
Draw drifting(double spread) {
  return [spread](Random& random, std::span<double> rounds) {
    constexpr double kMemory = 0.3;
    double state = random.normal();
    for (double& ns : rounds) {
      ns = 1000 * (1 + spread * state);
      state = kMemory * state + std::sqrt(1 - kMemory * kMemory) * random.normal();
    }
  };
}

Draw drawn_from(const Family& family, double spread) {
  return [family, spread](Random& random, std::span<double> rounds) {
    for (double& ns : rounds) ns = 1000 * (1 + spread * family.draw(random));
  };
}

}  // namespace

std::vector<Coverage> parametric_coverage(const Stopping& stopping, std::size_t trials,
                                          std::uint64_t seed) {
  constexpr Family kFamilies[] = {{"normal", [](Random& random) { return random.normal(); }},
                                  {"skewed", skewed},
                                  {"outliers", with_outliers},
                                  {"two modes", two_modes}};
  constexpr double kSpreads[] = {0.5, 1, 1.5, 2.5, 5};  // times the precision
  std::vector<Coverage> table;
  const auto add = [&](const std::string& name, const Draw& draw, double times) {
    std::string text = name + ", spread " + std::to_string(times).substr(0, 3) + " x the precision";
    table.push_back(coverage(std::move(text), draw, 1000, stopping, trials, seed));
  };
  for (const double times : kSpreads) {
    const double spread = times * stopping.precision;
    for (const Family& family : kFamilies) add(family.name, drawn_from(family, spread), times);
    add("drifting", drifting(spread), times);
  }
  return table;
}

}  // namespace dlbench::stats

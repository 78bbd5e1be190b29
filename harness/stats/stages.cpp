#include "stats/stages.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/random.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {
namespace {

constexpr double kFalseAlarms = 0.01;
constexpr double kInterimConfidence = 0.95;  // of the interval at an interim analysis

/// Two neighbours' times, in the order in which the sides got them.
void deal(std::span<const double> pair, double change, Random& random, MeasuredSide& base,
          MeasuredSide& head) {
  const std::size_t first = random.below(2);
  base.medians.push_back(pair[first]);
  head.medians.push_back(pair[1 - first] * (1 + change));
}

}  // namespace

std::size_t processes_to_see(double change, double spread, double degrees_of_freedom, double level,
                             Quantiles& quantiles) {
  constexpr double kMissed = 0.01;  // of a hundred such changes
  constexpr double kRanksNeedMore = 1.05;
  constexpr double kMost = 1e6;
  const double far =
      quantiles.of(level, degrees_of_freedom) + quantiles.of(2 * kMissed, degrees_of_freedom);
  const double times = far * spread / std::log1p(change);
  const double needed = std::ceil(2 * times * times * kRanksNeedMore) + 1;
  return std::max(processes_for(level) + 1, static_cast<std::size_t>(std::min(needed, kMost)));
}

std::optional<std::size_t> replicas_to_see(double change, double spread, double level) {
  Quantiles quantiles;
  const auto is_enough = [&](std::size_t processes) {
    const double degrees_of_freedom = 2 * static_cast<double>(processes) - 2;
    return processes_to_see(change, spread, degrees_of_freedom, level, quantiles) <= processes;
  };
  std::size_t few = 1, enough = kMostReplicas;
  if (!is_enough(enough)) return std::nullopt;
  while (enough - few > 1) {
    const std::size_t middle = (few + enough) / 2;
    (is_enough(middle) ? enough : few) = middle;
  }
  return enough;
}

std::size_t next_look(const Look& seen, const Stages& stages, double level, Quantiles& quantiles) {
  const std::size_t have = std::min(seen.first, seen.second);
  const double degrees_of_freedom =
      std::max(1.0, static_cast<double>(seen.first + seen.second) - 2);
  const double each = 1 / static_cast<double>(seen.first) + 1 / static_cast<double>(seen.second);
  const double half = std::log(seen.hi / seen.lo) / 2;
  const double spread =
      half / (quantiles.of(1 - kInterimConfidence, degrees_of_freedom) * std::sqrt(each));
  const std::size_t sure =
      processes_to_see(stages.threshold, spread, degrees_of_freedom, level, quantiles);
  if (sure <= have) return have;
  // Few processes know their scatter badly: go as far as it would take if it were known, look
  // again, and always some way on, since each look costs a start.
  constexpr double kKnown = 1e6;
  const std::size_t likely = processes_to_see(stages.threshold, spread, kKnown, level, quantiles);
  const std::size_t step = have + std::max<std::size_t>(2, have / 3);
  return std::min(stages.most, std::min(sure, std::max(likely, step)));
}

Power compare_often(std::span<const double> record, double change, const Stages& stages,
                    std::size_t cells, std::size_t trials, std::uint64_t seed) {
  const double level = kFalseAlarms / static_cast<double>(cells);
  Changes changes(level, std::nullopt);
  Quantiles quantiles;
  const std::size_t pairs = record.size() / 2;
  Stages within = stages;  // no process is there twice
  within.most = std::min(stages.most, pairs);
  std::array<std::size_t, 4> words{};
  std::size_t processes = 0, most = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Random random(mixed(seed, trial));
    MeasuredSide base, head;
    std::size_t have = 0, wanted = stages.coarse, at = random.below(pairs);
    ChangeWord word = ChangeWord::ambig;
    for (std::size_t look = 0; look < stages.looks && wanted > have; ++look) {
      for (; have < wanted; ++have, at = (at + 1) % pairs) {
        deal(record.subspan(2 * at, 2), change, random, base, head);
      }
      const Change seen = changes.of(base, head);
      // Holm's for the smallest p of all cells, which is the strictest.
      const double p = std::min(1.0, seen.p * static_cast<double>(cells));
      word = word_of({seen.ratio, seen.most, p}, stages.threshold, kFalseAlarms);
      if (word == ChangeWord::same) break;
      wanted = next_look({seen.lo, seen.hi, have, have}, within, level, quantiles);
    }
    ++words[static_cast<std::size_t>(word)];
    processes += have;
    most = std::max(most, have);
  }
  const auto count = static_cast<double>(trials);
  const auto share = [&](ChangeWord word) {
    return static_cast<double>(words[static_cast<std::size_t>(word)]) / count;
  };
  return {share(ChangeWord::slow),
          share(ChangeWord::fast),
          share(ChangeWord::same),
          share(ChangeWord::ambig),
          static_cast<double>(processes) / count,
          static_cast<double>(most)};
}

}  // namespace dlbench::stats

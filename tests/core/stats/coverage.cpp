#include "coverage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "recorded_rounds.hpp"
#include "stats/process_spread.hpp"
#include "stats/ratio.hpp"

namespace dlbench::stats {
namespace {

std::vector<double> until_precise(const Draw& draw, const Stopping& stopping, Random& random) {
  std::vector<double> all(stopping.most);
  draw(random, all);
  std::size_t taken = stopping.first;
  while (!is_precise(std::span(all).first(taken), stopping)) {
    taken = std::min(taken + stopping.pass, stopping.most);
  }
  all.resize(taken);
  return all;
}

}  // namespace

Draw resampled(std::vector<double> record) {
  return [record = std::move(record)](Random& random, std::span<double> rounds) {
    for (double& ns : rounds) ns = record[random.below(record.size())];
  };
}

Draw resampled_in_blocks(std::vector<double> record, std::size_t pass) {
  return [record = std::move(record), pass](Random& random, std::span<double> rounds) {
    const std::size_t window = std::max<std::size_t>(1, record.size() / 4);
    const std::size_t start = random.below(record.size());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const std::size_t at = start + i / pass * window + random.below(window);
      rounds[i] = record[at % record.size()];
    }
  };
}

Coverage coverage(std::string source, const Draw& draw, double truth, const Stopping& stopping,
                  std::size_t trials, std::uint64_t seed) {
  std::size_t held = 0;
  std::size_t rounds = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Random random(mixed(seed, trial));
    const std::vector<double> taken = until_precise(draw, stopping, random);
    const Interval interval = rounds_interval(taken);
    held += interval.lo <= truth && truth <= interval.hi ? 1 : 0;
    rounds += taken.size();
  }
  const auto count = static_cast<double>(trials);
  return {std::move(source), static_cast<double>(held) / count,
          static_cast<double>(rounds) / count};
}

std::vector<Coverage> recorded_coverage(const Stopping& stopping, std::size_t trials,
                                        std::uint64_t seed) {
  std::vector<Coverage> table;
  for (const RecordedRounds& recorded : recorded_rounds()) {
    const std::vector<double> record(recorded.ns.begin(), recorded.ns.end());
    const std::string name(recorded.exchange);
    table.push_back(coverage(name, resampled(record), median(record), stopping, trials, seed));
    table.push_back(coverage(name + ", in blocks", resampled_in_blocks(record, stopping.pass),
                             median(record), stopping, trials, seed));
  }
  return table;
}

Coverage same_side_coverage(std::size_t processes, std::size_t references, double spread,
                            std::size_t trials, std::uint64_t seed) {
  const auto recorded = recorded_rounds();
  std::size_t held = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Random random(mixed(seed, trial));
    const RecordedRounds& record = recorded[random.below(recorded.size())];
    const auto off = [&] { return std::exp(spread * random.normal()); };
    std::vector<double> medians(references);
    std::generate(medians.begin(), medians.end(), off);
    std::array<std::vector<std::vector<double>>, 2> sides;
    for (auto& side : sides) {
      for (std::size_t process = 0; process < processes; ++process) {
        std::vector<double> rounds(Stopping{}.first);
        const double factor = off();
        for (double& ns : rounds) ns = record.ns[random.below(record.ns.size())] * factor;
        side.push_back(std::move(rounds));
      }
    }
    const Ratio ratio = ratio_of_medians(sides[0], sides[1], between_half_width(medians));
    held += ratio.lo <= 1 && 1 <= ratio.hi ? 1 : 0;
  }
  return {"A/A, " + std::to_string(processes) + " a side, " + std::to_string(references) +
              " references",
          static_cast<double>(held) / static_cast<double>(trials),
          static_cast<double>(Stopping{}.first)};
}

}  // namespace dlbench::stats

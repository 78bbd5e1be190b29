#include "stats/stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "random.hpp"
#include "recorded_workers.hpp"

namespace dlbench::stats {
namespace {

constexpr std::size_t kTrials = 4000 / kOneIn;  // 1 % scatters by 0.16 %, of a quarter by 0.31 %
constexpr std::size_t kRareTrials = 10000;      // a twentieth of that by 0.022 %
constexpr std::uint64_t kSeed = 20240229;

constexpr double kFalseAlarms = 0.01;

/// What came of many comparisons of one cell, of each so many in a hundred.
struct Power {
  double slow = 0, fast = 0, same = 0, open = 0;  ///< shares; open: AMBIG or INCONCLUSIVE
  double processes = 0;                           ///< a side, in the mean
  double most = 0;
};

/// Does a cell need no more processes?
inline bool is_decided(ChangeWord word) {
  return word != ChangeWord::ambig && word != ChangeWord::inconclusive;
}

/// Two neighbours' times, in the order in which the sides got them.
void deal(std::span<const double> pair, double change, Random& random, MeasuredSide& base,
          MeasuredSide& head) {
  const std::size_t first = random.below(2);
  base.medians.push_back(pair[first]);
  head.medians.push_back(pair[1 - first] * (1 + change));
}

/// Comparisons in stages between neighbours of a record: medians of processes that ran one after
/// another, of which each pair is dealt to base and head by chance, as `compare` deals them, so
/// that what drifts in the record drifts in the comparison. Head's are longer by `change`. The cell
/// is one of so many, of which none may be called slow or fast by chance in more than 1 of 100.
/// Trial i depends on the seed and i alone.
Power compare_often(std::span<const double> record, double change, const Stages& stages,
                    std::size_t cells, std::size_t trials, std::uint64_t seed) {
  const auto tests = static_cast<double>(cells);
  std::map<double, Changes> changes;  // by the part of the alarms
  Quantiles quantiles;
  const std::size_t pairs = record.size() / 2;
  Stages within = stages;  // no process is there twice
  within.most = std::min(stages.most, pairs);
  std::array<std::size_t, kChangeWords.size()> words{};
  std::size_t processes = 0, most = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Random random(mixed(seed, trial));
    MeasuredSide base, head;
    std::size_t have = 0, wanted = stages.coarse, at = random.below(pairs);
    ChangeWord word = ChangeWord::ambig;
    for (std::size_t analysis = 0; analysis < stages.analyses && wanted > have; ++analysis) {
      for (; have < wanted; ++have, at = (at + 1) % pairs) {
        deal(record.subspan(2 * at, 2), change, random, base, head);
      }
      const double alarms = kFalseAlarms * part_of_alarms(analysis, have, within);
      const Change observed =
          changes.try_emplace(alarms, alarms / tests).first->second.of(base, head);
      // Holm's for the smallest p of all cells, which is the strictest.
      const double p = std::min(1.0, observed.p * tests);
      word = word_of({observed.ratio, observed.most, p, observed.minimum_detectable_change},
                     stages.threshold, alarms);
      if (is_decided(word)) break;
      wanted =
          next_processes({observed.lo, observed.hi, have, have, observed.minimum_detectable_change},
                         within, alarms / tests, quantiles);
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
          share(ChangeWord::ambig) + share(ChangeWord::inconclusive),
          static_cast<double>(processes) / count,
          static_cast<double>(most)};
}

std::vector<double> record(double (*scatter)(Random&), double spread) {
  Random random(5);
  std::vector<double> made(4000);
  for (double& ns : made) ns = 100 * std::exp(spread * scatter(random));
  return made;
}

double normal(Random& random) {
  return random.normal();
}
/// One process in ten was disturbed, by as much as it takes.
double disturbed(Random& random) {
  return random.normal() + (random.uniform() < 0.1 ? 10 * random.exponential() : 0);
}
double two_modes(Random& random) {
  return 0.3 * random.normal() + (random.uniform() < 0.5 ? 2 : 0);
}

void print(const std::string& name, const Power& observed) {
  std::printf(
      "  %-34s SLOW %6.2f %%  FAST %5.2f %%  SAME %6.2f %%  open %5.2f %%  %4.1f of %2.0f\n",
      name.c_str(), 100 * observed.slow, 100 * observed.fast, 100 * observed.same,
      100 * observed.open, observed.processes, observed.most);
}

struct Case {
  std::string name;
  std::vector<double> medians;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double spread : {0.005, 0.02, 0.035}) {
    const std::string times = std::to_string(spread * 100).substr(0, 3) + " %";
    all.push_back({"normal, " + times, record(&normal, spread)});
  }
  all.push_back({"disturbed, 1.0 %", record(&disturbed, 0.01)});
  all.push_back({"two modes, 4 % apart", record(&two_modes, 0.02)});
  for (const std::span<const double> each : recorded_workers()) {
    all.push_back(
        {"recorded, " + std::to_string(each.size()) + " workers", {each.begin(), each.end()}});
  }
  return all;
}

TEST(Stages, FivePerCentAreFoundInNinetyFiveOfAHundred) {
  for (const Case& each : cases()) {
    const Power observed = compare_often(each.medians, 0.05, {}, 1, kTrials, kSeed);
    print(each.name, observed);
    EXPECT_GE(observed.slow, 0.965) << each.name;
    EXPECT_EQ(observed.fast, 0) << each.name;
  }
}

TEST(Stages, AtMostOneOfAHundredAlarmsForNothing) {
  for (const Case& each : cases()) {
    for (const std::size_t cells : {std::size_t{1}, std::size_t{20}}) {
      const Power observed =
          compare_often(each.medians, 0, {}, cells, cells == 1 ? kTrials : kRareTrials, kSeed);
      print(each.name + ", 1 of " + std::to_string(cells), observed);
      // Of the whole comparison, whose cells are at most that many times a cell's.
      EXPECT_LE((observed.slow + observed.fast) * static_cast<double>(cells), 0.015) << each.name;
    }
  }
}

TEST(Stages, GoOnUntilTheScatterIsKnownToBeSmallEnough) {
  const Stages stages;
  Quantiles quantiles;
  const auto next = [&](double half, std::size_t have) {
    return next_processes({1 / (1 + half), 1 + half, have, have}, stages, 0.01, quantiles);
  };
  EXPECT_EQ(next(0.001, 6), 6U);
  EXPECT_EQ(next(0.03, 6), 11U);
  EXPECT_EQ(next(0.01, 40), 40U);
  EXPECT_EQ(next(0.5, stages.most), stages.most);
  EXPECT_EQ(next(kMostFactor, 1), 2U);
  EXPECT_GT(processes_to_detect(0.05, 0.02, 10, 0.01, quantiles),
            processes_to_detect(0.05, 0.02, 100, 0.01, quantiles));
}

TEST(Stages, ProcessesThatCannotDetectTheThresholdAreTooFew) {
  const Stages stages;
  Quantiles quantiles;
  Analysis observed{0.999, 1.001, 6, 6, 0.04};
  EXPECT_EQ(next_processes(observed, stages, 0.01, quantiles), 6U);
  observed.minimum_detectable_change = 0.06;  // one process is far off, which the interval ignores
  EXPECT_EQ(next_processes(observed, stages, 0.01, quantiles), 11U);
}

TEST(Stages, ThePartsOfTheAlarmsAreTheWhole) {
  const Stages stages;
  double sum = 0;
  for (std::size_t i = 0; i < stages.analyses; ++i) sum += part_of_alarms(i, 6 + i, stages);
  EXPECT_DOUBLE_EQ(sum, 1);
  const double first = part_of_alarms(0, 6, stages);
  EXPECT_DOUBLE_EQ(first + part_of_alarms(1, stages.most, stages), 1);
  EXPECT_EQ(part_of_alarms(0, stages.most, stages), 1);
}

TEST(Stages, AFewReplicasDoWhereTheyScatterLittle) {
  Quantiles quantiles;
  EXPECT_LT(replicas_to_detect(0.05, 0.005, 1e-4, quantiles), processes_for(1e-4));
  EXPECT_GT(replicas_to_detect(0.05, 0.02, 1e-4, quantiles), processes_for(1e-4));
  EXPECT_FALSE(replicas_to_detect(0.05, 2, 1e-4, quantiles));
}

TEST(Stages, TheAnalysesLeadToTheLimit) {
  const Stages stages;
  Quantiles quantiles;
  std::size_t have = stages.coarse;
  for (std::size_t analysis = 1; analysis < stages.analyses; ++analysis) {
    have = next_processes({0.5, 2, have, have}, stages, 0.01, quantiles);
  }
  EXPECT_EQ(have, stages.most);
}

}  // namespace
}  // namespace dlbench::stats

// Three processes a side, moderated by the cells of the same run: how often a comparison without a
// change has a cell that is SLOW or FAST, and how small a change it detects.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "random.hpp"
#include "recorded_workers.hpp"
#include "stats/change.hpp"
#include "stats/process_spread.hpp"
#include "stats/stats.hpp"

namespace dlbench::stats {
namespace {

constexpr double kAlarms = 0.01;
constexpr std::size_t kProcesses = 3;
constexpr std::uint64_t kSeed = 20240229;

using Cells = std::vector<std::vector<double>>;  ///< logarithms: six processes each

double student_of_three(Random& random) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const double z = random.normal();
    squares += z * z / 3;
  }
  return 0.01 * random.normal() / std::sqrt(squares);
}

Cells independent(double (*scatter)(Random&), std::size_t cells, Random& random) {
  Cells made(cells, std::vector<double>(2 * kProcesses));
  for (auto& cell : made) {
    for (double& each : cell) each = scatter(random);
  }
  return made;
}

double normal(Random& random) {
  return 0.02 * random.normal();
}
double disturbed(Random& random) {
  const double usual = 0.01 * random.normal();
  return random.uniform() < 0.1 ? usual + 0.3 * random.exponential() : usual;
}

/// Processes of a record, none twice.
std::vector<double> recorded(Random& random) {
  const auto records = recorded_workers();
  const std::span<const double> record = records[random.below(records.size())];
  std::vector<double> all(record.begin(), record.end());
  std::vector<double> made;
  for (std::size_t i = 0; i < 2 * kProcesses; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
    made.push_back(std::log(all[i] / median(record)));
  }
  return made;
}

Cells recorded_apart(std::size_t cells, Random& random) {
  Cells made;
  for (std::size_t i = 0; i < cells; ++i) made.push_back(recorded(random));
  return made;
}

/// Every cell is measured in the same processes, which are slow or fast for all of them.
Cells recorded_together(std::size_t cells, Random& random) {
  const std::vector<double> shared = recorded(random);
  Cells made;
  for (std::size_t i = 0; i < cells; ++i) {
    const double factor = std::exp(0.4 * random.normal());
    std::vector<double>& cell = made.emplace_back();
    for (const double each : shared) cell.push_back(each * factor + 0.008 * random.normal());
  }
  return made;
}

/// The same of a normal distribution.
Cells normal_together(std::size_t cells, Random& random) {
  std::vector<double> shared(2 * kProcesses);
  for (double& each : shared) each = normal(random);
  Cells made;
  for (std::size_t i = 0; i < cells; ++i) {
    const double factor = std::exp(0.3 * random.normal());
    std::vector<double>& cell = made.emplace_back();
    for (const double each : shared) cell.push_back(factor * (each + 0.3 * normal(random)));
  }
  return made;
}

struct Case {
  std::string name;
  std::function<Cells(std::size_t, Random&)> draw;
};

std::vector<Case> cases() {
  const auto of = [](double (*scatter)(Random&)) {
    return [scatter](std::size_t cells, Random& random) {
      return independent(scatter, cells, random);
    };
  };
  return {{"normal, 2 %", of(&normal)},
          {"normal, shared", &normal_together},
          {"heavy tails (t of 3)", of(&student_of_three)},
          {"one in ten disturbed", of(&disturbed)},
          {"recorded, apart", &recorded_apart},
          {"recorded, shared", &recorded_together}};
}

MeasuredSide side(std::span<const double> logs, double length, double factor) {
  MeasuredSide made;
  for (const double each : logs) {
    made.medians.push_back(factor * std::exp(length + each));
    made.deviations.push_back(0.002);
  }
  return made;
}

struct Found {
  double comparisons = 0, cells = 0;     ///< shares with an alarm, where nothing changed
  double minimum_detectable_change = 0;  ///< of the median cell
};

Found compare_often(const Case& each, std::size_t count, std::size_t trials) {
  std::size_t comparisons = 0, alarms = 0;
  std::vector<double> detectable;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Random random(mixed(kSeed, trial));
    const Cells drawn = each.draw(count, random);
    std::vector<MeasuredSide> base, head;
    ProcessSpread spread;
    std::vector<double> lengths;
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> cell(drawn[i]);
      const double length = 5 + 6 * random.uniform();
      base.push_back(side(cell.first(kProcesses), length, 1));
      head.push_back(side(cell.last(kProcesses), length, 1));
      spread.add(base.back().medians);
      spread.add(head.back().medians);
      lengths.push_back(std::exp(length));
    }
    spread.estimate();
    Changes changes(kAlarms / static_cast<double>(count));
    std::vector<double> p;
    for (std::size_t i = 0; i < count; ++i) {
      const Change observed = changes.of(base[i], head[i], spread.noise(lengths[i]));
      p.push_back(observed.p);
      detectable.push_back(observed.minimum_detectable_change);
    }
    const std::vector<double> adjusted = holm(p);
    const auto found =
        std::count_if(adjusted.begin(), adjusted.end(), [](double one) { return one <= kAlarms; });
    comparisons += found > 0 ? 1 : 0;
    alarms += static_cast<std::size_t>(found);
  }
  const auto all = static_cast<double>(trials);
  return {static_cast<double>(comparisons) / all,
          static_cast<double>(alarms) / all / static_cast<double>(count), median(detectable)};
}

TEST(Moderation, AtMostOneCellInAHundredIsAFalseAlarm) {
  for (const Case& each : cases()) {
    for (const std::size_t cells : {std::size_t{10}, std::size_t{40}, std::size_t{150}}) {
      // As many cells of 150 as of 40: a sanitizer makes each one slow.
      const Found found = compare_often(each, cells, cells < 150 ? 1000 / kOneIn : 300);
      std::printf(
          "  %-22s %3zu cells: alarms in %.2f %% of comparisons, %.3f %% of cells; detects %.1f "
          "%%\n",
          each.name.c_str(), cells, 100 * found.comparisons, 100 * found.cells,
          100 * found.minimum_detectable_change);
      EXPECT_LE(found.cells, 0.01) << each.name;
      EXPECT_LE(found.comparisons, 0.02) << each.name;
    }
  }
}

}  // namespace
}  // namespace dlbench::stats

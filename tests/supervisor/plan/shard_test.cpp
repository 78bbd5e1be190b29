#include "supervisor/plan/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/error.hpp"

namespace dlbench::plan {
namespace {

/// Libraries of these names, installed.
Plan plan_of(const std::vector<std::string>& names) {
  std::vector<Library> all;
  for (const std::string& name : names) {
    Library made;
    made.name = name;
    made.installed = true;
    made.version = "1.0";
    made.producer_path = made.consumer_path = name + ".py";
    made.protocols = {"dlpack", "convert"};
    all.push_back(made);
  }
  Axes axes;
  axes.producers = axes.consumers = {"all"};
  return make(all, axes);
}

/// So many libraries, every third of which imports fewer protocols, and one that is not installed.
Plan plan_of(std::size_t libraries) {
  std::vector<Library> all;
  for (std::size_t i = 0; i < libraries; ++i) {
    Library made;
    made.name = "library" + std::to_string(i);
    made.installed = i != 1;
    made.version = "1.0";
    made.producer_path = made.consumer_path = made.name + ".py";
    made.protocols = {"dlpack"};
    if (i % 3 != 0) made.protocols.emplace_back("convert");
    all.push_back(made);
  }
  Axes axes;
  axes.producers = axes.consumers = {"all"};
  return make(all, axes);
}

std::multiset<std::string> names_of(const Plan& plan) {
  std::multiset<std::string> names;
  for (const Cell& cell : plan.cells) names.insert(name(cell));
  for (const Entry& entry : plan.excluded) names.insert(name(entry.cell) + " excluded");
  return names;
}

TEST(Shard, ShardsHoldEveryCellOnceAndKeepPairsTogether) {
  const Plan whole = plan_of(12);
  std::multiset<std::string> names;
  std::map<std::string, std::size_t> owner;
  for (std::size_t number = 1; number <= 5; ++number) {
    const Plan part = shard(whole, number, 5);
    names.merge(names_of(part));
    std::size_t cells = 0;
    for (const Pair& pair : part.pairs) {
      EXPECT_TRUE(owner.emplace(pair.first + " " + pair.second, number).second);
      for (const std::size_t cell : pair.cells) {
        const Exchange& exchange = part.cells.at(cell).exchange;
        const std::set<std::string> libraries{exchange.producer, exchange.consumer};
        EXPECT_EQ(libraries, (std::set<std::string>{pair.first, pair.second}));
      }
      cells += pair.cells.size();
    }
    EXPECT_EQ(cells, part.cells.size());
    EXPECT_NE(part.fingerprint, whole.fingerprint);
    EXPECT_EQ(part.whole, whole.fingerprint);
  }
  EXPECT_EQ(names, names_of(whole));
  EXPECT_EQ(owner.size(), whole.pairs.size());
}

TEST(Shard, ShardsTakeAboutTheSameExpectedTime) {
  for (const std::size_t libraries : {8, 17, 30}) {
    const Plan whole = plan_of(libraries);
    for (const std::size_t of : {2, 3, 5}) {
      std::vector<std::uint64_t> times;
      for (std::size_t number = 1; number <= of; ++number) {
        times.push_back(expected_ms(shard(whole, number, of)));
      }
      const auto [least, most] = std::minmax_element(times.begin(), times.end());
      EXPECT_LE(static_cast<double>(*most), 1.35 * static_cast<double>(*least))
          << libraries << " libraries, " << of << " shards";
      EXPECT_LT(*most, expected_ms(whole));
    }
  }
}

TEST(Shard, ALibraryThatImportsSlowlyCountsForMore) {
  const std::uint64_t light = expected_ms(plan_of({"numpy", "array_api_strict"}));
  const std::uint64_t heavy = expected_ms(plan_of({"numpy", "torch"}));
  EXPECT_GT(heavy, light + 2000);
  // One part of two imports it, and has fewer cells.
  const Plan whole = plan_of({"a", "b", "c", "d", "e", "f", "tensorflow"});
  std::map<bool, std::size_t> cells;
  for (const std::size_t number : {1, 2}) {
    const Plan part = shard(whole, number, 2);
    const bool is_slow = std::any_of(part.pairs.begin(), part.pairs.end(), [](const Pair& pair) {
      return pair.first == "tensorflow" || pair.second == "tensorflow";
    });
    cells[is_slow] += part.cells.size();
  }
  EXPECT_GT(cells[true], 0u);
  EXPECT_LT(cells[true], cells[false]);
}

TEST(Shard, AShardOfManyDoesNotImportEveryLibrary) {
  const Plan part = shard(plan_of(30), 1, 5);
  std::set<std::string> libraries;
  for (const Pair& pair : part.pairs) libraries.insert({pair.first, pair.second});
  EXPECT_LE(libraries.size(), 24u);
}

TEST(Shard, OneShardIsTheWholePlan) {
  const Plan whole = plan_of(5);
  EXPECT_EQ(shard(whole, 1, 1).fingerprint, whole.fingerprint);
}

TEST(Shard, RefusesWhatIsNoPartAndMorePartsThanPairs) {
  const Plan whole = plan_of(3);  // two installed: three pairs
  EXPECT_THROW(shard(whole, 0, 2), UsageError);
  EXPECT_THROW(shard(whole, 3, 2), UsageError);
  EXPECT_THROW(shard(whole, 1, 4), UsageError);
  EXPECT_NO_THROW(shard(whole, 3, 3));
}

}  // namespace
}  // namespace dlbench::plan

#include "supervisor/imports/groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace dlbench::supervisor {
namespace {

/// All pairs of so many libraries.
plan::Plan plan_of(std::size_t libraries) {
  plan::Plan plan;
  const auto name = [](std::size_t i) { return "l" + std::to_string(i); };
  for (std::size_t i = 0; i < libraries; ++i) {
    for (std::size_t j = i; j < libraries; ++j) {
      plan.pairs.push_back({"default", name(i), name(j), {}});
    }
  }
  return plan;
}

std::vector<std::size_t> all_pairs(const plan::Plan& plan) {
  std::vector<std::size_t> pairs(plan.pairs.size());
  std::iota(pairs.begin(), pairs.end(), std::size_t{0});
  return pairs;
}

std::size_t imports_of(const std::vector<Group>& groups) {
  std::size_t imports = 0;
  for (const Group& group : groups) imports += group.libraries.size();
  return imports;
}

/// Each pair once, in a group that holds its libraries.
void expect_cover(const plan::Plan& plan, const std::vector<Group>& groups) {
  std::vector<std::size_t> observed;
  for (const Group& group : groups) {
    for (const std::size_t pair : group.pairs) {
      observed.push_back(pair);
      for (const std::string& library : {plan.pairs[pair].first, plan.pairs[pair].second}) {
        EXPECT_EQ(std::count(group.libraries.begin(), group.libraries.end(), library), 1);
      }
    }
  }
  std::sort(observed.begin(), observed.end());
  EXPECT_EQ(observed, all_pairs(plan));
}

TEST(Groups, ThreeReplicasTakeThreeImportsALibrary) {
  for (std::size_t libraries = 1; libraries <= 60; ++libraries) {
    const plan::Plan plan = plan_of(libraries);
    const std::vector<Group> groups = plan_groups(plan, all_pairs(plan), Compatibility());
    expect_cover(plan, groups);
    EXPECT_LE(3 * imports_of(groups), 4 * libraries);
  }
}

TEST(Groups, ALibraryThatImportsFirstComesBeforeTheOthers) {
  plan::Plan plan = plan_of(4);
  plan::Library first;
  first.name = "l2";
  first.imports_first = true;
  plan::Library elsewhere = first;
  elsewhere.name = "l3";
  elsewhere.environment = "other";
  plan.libraries = {elsewhere, first};
  const auto order = [&](const Compatibility& known) {
    return plan_groups(plan, all_pairs(plan), known).front().libraries;
  };
  Compatibility known;
  EXPECT_EQ(order(known), (std::vector<std::string>{"l2", "l0", "l1", "l3"}));
  known.require_order("default", "l0", "l2", Failure());  // a required order overrules it
  EXPECT_EQ(order(known), (std::vector<std::string>{"l0", "l2", "l1", "l3"}));
}

TEST(Groups, LibrariesThatAreApartNeverMeet) {
  const plan::Plan plan = plan_of(10);
  Compatibility known;
  known.keep_apart("default", "l2", "l7", Failure());
  const std::vector<Group> groups = plan_groups(plan, all_pairs(plan), known);
  expect_cover(plan, groups);
  for (const Group& group : groups) {
    const bool holds_both = std::count(group.libraries.begin(), group.libraries.end(), "l2") +
                                std::count(group.libraries.begin(), group.libraries.end(), "l7") ==
                            2;
    EXPECT_EQ(holds_both, group.pairs.size() == 1 && group.libraries.size() == 2);
  }
  EXPECT_LE(imports_of(groups), 2u * 9 + 2);
}

TEST(Groups, SmallWorkersCoverAllPairs) {
  for (const std::size_t most : {2u, 3u, 5u, 8u}) {
    const plan::Plan plan = plan_of(16);
    const std::vector<Group> groups = plan_groups(plan, all_pairs(plan), Compatibility(), most);
    expect_cover(plan, groups);
    for (const Group& group : groups) EXPECT_LE(group.libraries.size(), most);
  }
}

TEST(Groups, AnIsolatedPairOrLibraryIsAloneInItsGroups) {
  const plan::Plan plan = plan_of(5);
  Compatibility known;
  EXPECT_TRUE(known.isolate(1));
  EXPECT_FALSE(known.isolate(1));
  known.isolate("default", "l4", Failure());
  const std::vector<Group> groups = plan_groups(plan, all_pairs(plan), known);
  expect_cover(plan, groups);
  EXPECT_EQ(groups.size(), 1u + 1 + 5);
}

TEST(Groups, OrdersAreKeptAndContradictionsEnd) {
  Compatibility known;
  known.require_order("default", "c", "a", Failure());
  EXPECT_EQ(known.in_order("default", {"a", "b", "c"}), (std::vector<std::string>{"b", "c", "a"}));
  EXPECT_EQ(known.in_order("other", {"a", "b", "c"}), (std::vector<std::string>{"a", "b", "c"}));
  known.require_order("default", "a", "c", Failure());
  EXPECT_EQ(known.in_order("default", {"a", "b", "c"}).size(), 3u);
}

}  // namespace
}  // namespace dlbench::supervisor

#include "results/comparison/compare_outcome.hpp"

#include <gtest/gtest.h>

#include "compare_fixture.hpp"

namespace dlbench::results {
namespace {

using testing::in_workers;
using testing::measured;
using testing::refused;

using Words = std::vector<std::string>;

/// What became of a cell, at whatever speed.
class CompareOutcomes : public testing::Compare {};

TEST_F(CompareOutcomes, AnOutcomeIsComparedAtAnySpeed) {
  Entry copied = measured("numpy", "copies");
  copied.outcome = Outcome::copy;
  Entry late = measured("numpy", "late");
  late.late_read = true;
  Entry changed = measured("numpy", "changed");
  changed.changed = {"dtype"};
  Entry unproven = measured("numpy", "unproven");
  unproven.outcome = Outcome::unproven;
  const auto base = write("base", {measured("numpy", "copies"), measured("numpy", "late"),
                                   measured("numpy", "changed"), measured("numpy", "unproven"),
                                   measured("numpy", "refuses"), refused("numpy", "heals")});
  const auto head = write("head", {copied, late, changed, unproven, refused("numpy", "refuses"),
                                   measured("numpy", "heals")});
  const Comparison made = compare(base, head);
  for (const char* worse : {"copies", "late", "changed", "refuses"}) {
    EXPECT_EQ(cell(made, worse).outcome_change, OutcomeChange::worse) << worse;
    EXPECT_EQ(cell(made, worse).details.size(), 1U) << worse;
  }
  EXPECT_EQ(cell(made, "heals").outcome_change, OutcomeChange::better);
  EXPECT_EQ(cell(made, "unproven").outcome_change, OutcomeChange::other);
  EXPECT_EQ(cell(made, "copies").details.front(), "zero-copy -> copy");
  EXPECT_EQ(made.count(OutcomeChange::worse), 4U);
  const Comparison back = compare(head, base);
  EXPECT_EQ(back.count(OutcomeChange::better), 4U);
  EXPECT_EQ(cell(compare(head, head), "copies").outcome_change, OutcomeChange::none);
}

/// Left without a time, since it ends as the plain array does.
Entry untimed(Entry entry) {
  entry.found = entry.outcome;
  entry.outcome = Outcome::not_run;
  entry.code = "untimed";
  entry.workers.clear();
  entry.median_ns = 0;
  return entry;
}

/// Timed on a device whose timer cannot tell its time from none.
Entry below(Entry entry, double ns, const char* limit = "step") {
  entry = untimed(std::move(entry));
  entry.outcome = Outcome::unsupported;
  entry.code = "below-resolution";
  entry.below_ns = ns;
  entry.data["limit"] = limit;
  return entry;
}

Entry on_device(const char* consumer, double ns) {
  Entry entry = measured("numpy", consumer);
  entry.cell.clock = "device";
  entry.lo_ns *= ns / entry.median_ns;
  entry.hi_ns *= ns / entry.median_ns;
  entry.median_ns = ns;
  return in_workers(std::move(entry), 2, 1);
}

TEST_F(CompareOutcomes, WhatIsBelowTheResolutionIsNotLostAndNotSlower) {
  const auto base =
      write("base", {below(on_device("both", 9), 31), below(on_device("slow", 9), 31),
                     below(on_device("near", 9), 31, "rounds"), on_device("fast", 900)});
  const auto head = write("head", {below(on_device("both", 9), 2000), on_device("slow", 900),
                                   on_device("near", 32), below(on_device("fast", 9), 31)});
  const Comparison made = compare(base, head);
  EXPECT_EQ(made.cells.size(), 4U);
  EXPECT_EQ(made.count(OutcomeChange::worse), 0U);
  EXPECT_EQ(made.count(Presence::lost), 0U);
  EXPECT_FALSE(cell(made, "both").verdict);
  EXPECT_EQ(cell(made, "slow").verdict, ChangeWord::slow);
  EXPECT_EQ(cell(made, "fast").verdict, ChangeWord::fast);
  // Its interval reaches down to what the other may take.
  EXPECT_EQ(cell(made, "near").verdict, ChangeWord::ambig);
  for (const char* consumer : {"slow", "fast", "near"}) {
    EXPECT_FALSE(cell(made, consumer).ratio) << consumer;
    EXPECT_EQ(cell(made, consumer).details.size(), 1U) << consumer;
  }
  EXPECT_EQ(cell(made, "slow").details.front(),
            "less than 31.0 ns in base, the timer's resolution");
  EXPECT_EQ(cell(made, "near").details.front(),
            "less than 31.0 ns in base, because its rounds scatter");
  EXPECT_EQ(cell(compare(head, base), "slow").verdict, ChangeWord::fast);
}

TEST_F(CompareOutcomes, ProcessesThatDifferAreNotSlowerThanABound) {
  // Each round of each process lies above the bound, and so does the entry's interval.
  Entry spread = on_device("spread", 60);
  spread.workers = {{40, 5000, {40, 40, 40}}, {90, 5000, {90, 90, 90}}};
  spread.lo_ns = 40;
  spread.hi_ns = 90;
  const auto base = write("base", {below(on_device("spread", 9), 31)});
  const auto head = write("head", {spread});
  EXPECT_EQ(cell(compare(base, head), "spread").verdict, ChangeWord::ambig);
  EXPECT_EQ(cell(compare(head, base), "spread").verdict, ChangeWord::ambig);
}

TEST_F(CompareOutcomes, WhatWasFoundWithoutATimeIsAnOutcome) {
  Entry copied = measured("numpy", "sweep_case");
  copied.outcome = Outcome::copy;
  const auto base = write("base", {untimed(measured("numpy", "sweep_case"))});
  const auto head = write("head", {copied});
  const Comparison made = compare(base, head);
  EXPECT_EQ(cell(made, "sweep_case").presence, Presence::both);
  EXPECT_EQ(cell(made, "sweep_case").outcome_change, OutcomeChange::worse);
  EXPECT_EQ(cell(made, "sweep_case").details, Words{"zero-copy -> copy"});
  EXPECT_FALSE(cell(made, "sweep_case").base.value);
  EXPECT_TRUE(cell(made, "sweep_case").head.value);
  EXPECT_FALSE(cell(made, "sweep_case").verdict);
  EXPECT_EQ(cell(compare(head, base), "sweep_case").outcome_change, OutcomeChange::better);
  const Comparison same = compare(base, base);
  EXPECT_EQ(cell(same, "sweep_case").presence, Presence::both);
  EXPECT_EQ(cell(same, "sweep_case").outcome_change, OutcomeChange::none);
}

TEST_F(CompareOutcomes, APhaseThatWasNotTimedIsNeitherThereNorGone) {
  Entry query = measured("numpy", "sweep_case"), none = refused("numpy", "sweep_case");
  query.cell.phase = none.cell.phase = "query";
  none.outcome = Outcome::no_protocol;
  const auto base = write("base", {untimed(query)});
  const auto head = write("head", {none});
  for (const Comparison& made : {compare(base, head), compare(head, base)}) {
    EXPECT_EQ(cell(made, "sweep_case").presence, Presence::both);
    EXPECT_EQ(cell(made, "sweep_case").outcome_change, OutcomeChange::none);
  }
}

/// In four workers, of which the first found something else.
Entry torn(const std::string& consumer, Outcome first, Outcome others) {
  Entry entry = in_workers(measured("numpy", consumer), 4, 1);
  entry.outcome = weaker_claim(first, others);
  for (WorkerNumbers& worker : entry.workers) worker.outcome = others;
  entry.workers[0].outcome = first;
  return entry;
}

TEST_F(CompareOutcomes, WorkersThatDisagreeAreNoChange) {
  const Entry mixed = torn("a", Outcome::copy, Outcome::zero_copy);
  Entry copied = measured("numpy", "a");
  copied.outcome = Outcome::copy;
  copied.changed = {"layout"};
  const auto torn_side = write("torn", {mixed});
  const auto shared = write("shared", {measured("numpy", "a")});
  const auto copies = write("copies", {copied});
  for (const Comparison& made : {compare(shared, torn_side), compare(torn_side, shared)}) {
    EXPECT_EQ(cell(made, "a").outcome_change, OutcomeChange::other);
    EXPECT_EQ(cell(made, "a").details.size(), 1U);
  }
  EXPECT_EQ(cell(compare(shared, torn_side), "a").details, Words{"zero-copy -> zero-copy or copy"});
  EXPECT_EQ(cell(compare(torn_side, torn_side), "a").outcome_change, OutcomeChange::none);
  // What no worker of the other side found is one.
  const auto gone = write("gone", {refused("numpy", "a")});
  EXPECT_EQ(cell(compare(torn_side, gone), "a").outcome_change, OutcomeChange::worse);
  EXPECT_EQ(cell(compare(copies, shared), "a").outcome_change, OutcomeChange::better);
}

TEST_F(CompareOutcomes, DocumentsOfOneSideMayDisagreeToo) {
  Entry copied = measured("numpy", "a");
  copied.outcome = Outcome::copy;
  const auto shared = write("shared", {measured("numpy", "a")});
  const auto copies = write("copies", {copied});
  const auto more = [&](const auto& first, const auto& second) {
    return results::compare({{shared}, ""}, {{first, second}, ""}, {});
  };
  for (const Comparison& made : {more(shared, copies), more(copies, shared)}) {
    EXPECT_EQ(cell(made, "a").outcome_change, OutcomeChange::other);
    EXPECT_EQ(cell(made, "a").head.outcome, Outcome::copy);
    EXPECT_EQ(cell(made, "a").head.workers, 2U);
  }
  EXPECT_EQ(cell(more(copies, copies), "a").outcome_change, OutcomeChange::worse);
}

}  // namespace
}  // namespace dlbench::results

#include "results/comparison/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare_fixture.hpp"

namespace dlbench::results {
namespace {

using testing::Compare;
using testing::in_workers;
using testing::measured;
using testing::refused;
using testing::usage_error;

TEST_F(Compare, APlantedChangeIsFoundAndTheRestIsTheSame) {
  std::vector<Entry> before, after;
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Entry entry = measured("numpy", names[i]);
    before.push_back(in_workers(entry, 10, i));
    const double factor = names[i] == "b" ? 1.08 : names[i] == "c" ? 0.9 : 1;
    after.push_back(in_workers(entry, 10, 100 + i, factor));
  }
  const Comparison made = compare(write("base", before), write("head", after));
  EXPECT_EQ(made.count(ChangeWord::slow), 1U);
  EXPECT_EQ(made.count(ChangeWord::fast), 1U);
  EXPECT_EQ(made.count(ChangeWord::same), 2U);
  const ComparedCell& slow = cell(made, "b");
  EXPECT_EQ(slow.verdict, ChangeWord::slow);
  EXPECT_NEAR(*slow.ratio, 1.08, 0.02);
  EXPECT_LT(*slow.lo, *slow.ratio);
  EXPECT_LE(*slow.p, 0.01);
  EXPECT_LT(*slow.minimum_detectable_change, 0.05);
  EXPECT_EQ(slow.base.workers, 10U);
  EXPECT_TRUE(std::is_sorted(made.cells.begin(), made.cells.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_F(Compare, AChangeWithinTheThresholdIsNone) {
  const Entry entry = measured("numpy", "a");
  const auto base = write("base", {in_workers(entry, 12, 1)});
  const auto head = write("head", {in_workers(entry, 12, 2, 1.03)});
  EXPECT_EQ(cell(compare(base, head), "a").verdict, ChangeWord::same);
  EXPECT_EQ(cell(compare(base, head, {0.01}), "a").verdict, ChangeWord::slow);
  EXPECT_EQ(cell(compare(head, base, {0.01}), "a").verdict, ChangeWord::fast);
}

TEST_F(Compare, TheReferenceAloneTellsNothingOfACell) {
  const Entry entry = measured("numpy", "a");
  const auto base = write("base", {in_workers(entry, 1, 1)});
  const Comparison made = compare(base, write("far", {in_workers(entry, 1, 1, 1e6)}));
  EXPECT_EQ(cell(made, "a").verdict, ChangeWord::inconclusive);
  ASSERT_TRUE(cell(made, "a").inconclusive);
  EXPECT_EQ(cell(made, "a").inconclusive->cause, InconclusiveCause::unknown_spread);
  EXPECT_FALSE(cell(made, "a").minimum_detectable_change);
  EXPECT_EQ(made.inconclusive.unknown, 1U);
}

TEST_F(Compare, CellsOfSimilarLengthTellOfTheScatterOfOne) {
  const auto entries = [](double ns, std::uint64_t seed) {
    std::vector<Entry> all;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const Entry entry = measured("numpy", "c" + std::to_string(i), ns);
      all.push_back(in_workers(entry, 3, 100 * seed + i));
    }
    return all;
  };
  // One worker of `alone` on each side: what its processes differ by, the other cells tell.
  const auto with = [&](const char* name, double ns, std::uint64_t seed) {
    std::vector<Entry> all = entries(ns, seed);
    all.push_back(in_workers(measured("numpy", "alone", 1000), 1, seed));
    return write(name, all);
  };
  const Comparison near = compare(with("base", 1100, 1), with("head", 1100, 2));
  EXPECT_NEAR(*cell(near, "alone").spread, 0.01, 0.005);
  EXPECT_EQ(cell(near, "alone").inconclusive->cause, InconclusiveCause::too_few_processes);
  const Comparison far = compare(with("base", 5e6, 1), with("head", 5e6, 2));
  EXPECT_FALSE(cell(far, "alone").spread);
  // The spread of a cell with three processes a side is moderated by the others.
  const Comparison three =
      compare(write("base", entries(1100, 1)), write("head", entries(1100, 2)));
  std::vector<double> spreads;
  for (const ComparedCell& each : three.cells) spreads.push_back(*each.spread);
  const auto [least, most] = std::minmax_element(spreads.begin(), spreads.end());
  EXPECT_LT(*most / *least, 2.5);
}

TEST_F(Compare, AGateThatCannotFailIsInconclusive) {
  const auto noisy = [](std::size_t workers, std::uint64_t seed) {
    Entry entry = measured("numpy", "a");
    entry.workers.clear();
    stats::Random random(seed);
    for (std::size_t i = 0; i < workers; ++i) {
      // Three that scatter by 3 % exactly: as few scatter little by chance.
      const double off = workers == 3 ? static_cast<double>(i) - 1 : random.normal();
      const double ns = 1000 * std::exp(0.03 * off);
      entry.workers.push_back({ns, 5000, {ns}});
    }
    return entry;
  };
  const auto base = write("base", {noisy(3, 1)});
  const Comparison three = compare(base, write("head", {noisy(3, 2)}));
  const ComparedCell& open = cell(three, "a");
  EXPECT_EQ(open.verdict, ChangeWord::inconclusive);
  EXPECT_GT(*open.minimum_detectable_change, 0.05);
  ASSERT_TRUE(open.inconclusive && open.inconclusive->replicas);
  EXPECT_EQ(open.inconclusive->cause, InconclusiveCause::too_few_processes);
  EXPECT_EQ(three.count(ChangeWord::inconclusive), 1U);
  EXPECT_EQ(three.inconclusive.cells, 1U);
  EXPECT_EQ(three.inconclusive.of, 1U);
  EXPECT_EQ(three.inconclusive.replicas, open.inconclusive->replicas);
  const std::size_t replicas = *open.inconclusive->replicas;
  EXPECT_GT(replicas, 3U);
  const Comparison enough =
      compare(write("base", {noisy(replicas, 3)}), write("head", {noisy(replicas, 4)}));
  EXPECT_EQ(enough.inconclusive.cells, 0U);
  EXPECT_FALSE(enough.inconclusive.replicas);
  EXPECT_FALSE(cell(enough, "a").inconclusive);
  // A new copy is a regression that was found: the noise of its time hides nothing.
  Entry copied = noisy(3, 2);
  copied.outcome = Outcome::copy;
  const Comparison worse = compare(base, write("worse", {copied}));
  EXPECT_EQ(cell(worse, "a").verdict, ChangeWord::inconclusive);
  EXPECT_EQ(worse.count(OutcomeChange::worse), 1U);
  EXPECT_EQ(worse.count(ChangeWord::inconclusive), 0U);
  EXPECT_EQ(worse.inconclusive.cells, 0U);
  // After a better outcome it may hide one: the counts and the number of such cells agree.
  const Comparison better = compare(write("copied", {copied}), write("head", {noisy(3, 2)}));
  EXPECT_EQ(better.count(OutcomeChange::better), 1U);
  EXPECT_EQ(better.count(ChangeWord::inconclusive), 1U);
  EXPECT_EQ(better.inconclusive.cells, 1U);
  // The machine moved by more than the threshold: no number of processes tells it from a change.
  const Comparison moved = compare(base, write("moved", {noisy(3, 2)}, {}, 66));
  EXPECT_EQ(moved.inconclusive.undecidable, 1U);
  EXPECT_EQ(cell(moved, "a").inconclusive->cause, InconclusiveCause::reference_moved);
  EXPECT_FALSE(moved.inconclusive.replicas);
}

TEST_F(Compare, AChangeThatWasFoundIsOneThoughTheThresholdCannotBeSeen) {
  const Entry entry = measured("numpy", "a");
  const auto base = write("base", {in_workers(entry, 3, 1)});
  const Comparison made = compare(base, write("head", {in_workers(entry, 3, 2, 3)}), {0.001});
  EXPECT_GT(*cell(made, "a").minimum_detectable_change, 0.001);
  EXPECT_EQ(cell(made, "a").verdict, ChangeWord::slow);
  EXPECT_EQ(made.inconclusive.cells, 0U);
}

TEST_F(Compare, WhatTheOtherOptionsLeaveOutIsNotLost) {
  const auto asked = [](const nlohmann::json& request) {
    return [=](nlohmann::json& context) { context["dlbench"]["request"] = request; };
  };
  Entry large = measured("numpy", "a");
  large.cell.exchange.bytes = 1 << 20;
  const std::vector<Entry> both{measured("numpy", "a"), measured("numpy", "b"), large};
  const auto base = write("base", both, asked({{"sizes", {"4KiB", "1MiB"}}, {"filter", ""}}));
  const auto head = write("head", {both[0]}, asked({{"sizes", {"4KiB"}}, {"filter", ""}}));
  const Comparison made = compare(base, head);
  EXPECT_EQ(made.left_out[0], 1U);
  EXPECT_EQ(made.count(Presence::lost), 1U) << "numpy -> b at 4 KiB was asked for";
  EXPECT_EQ(compare(head, base).left_out[1], 1U);
  // A filter may have left out any cell.
  const auto filtered = write("filtered", {both[0]}, asked({{"filter", "a"}}));
  EXPECT_EQ(compare(base, filtered).count(Presence::lost), 0U);
  EXPECT_EQ(compare(base, filtered).left_out[0], 2U);
  // The order of words and options that choose no cell make no difference.
  const auto same = write("same", {both[0]}, asked({{"sizes", {"1MiB", "4KiB"}}, {"seed", 2}}));
  EXPECT_EQ(compare(base, same).count(Presence::lost), 2U);
  EXPECT_TRUE(compare(base, same).warnings.empty());
}

TEST_F(Compare, WhatAnotherBudgetDidNotReachIsNotLost) {
  const auto asked = [](const char* budget) {
    return [=](nlohmann::json& context) {
      context["dlbench"]["request"] = {{"sizes", {"4KiB"}}, {"budget", budget}};
    };
  };
  Entry not_run = refused("numpy", "b");
  not_run.outcome = Outcome::not_run;
  const Entry failed = refused("numpy", "c");
  const auto base = write(
      "base", {measured("numpy", "a"), measured("numpy", "b"), measured("numpy", "c")}, asked(""));
  const std::vector<Entry> rest{measured("numpy", "a"), not_run, failed};
  const Comparison made = compare(base, write("head", rest, asked("90s")));
  EXPECT_EQ(made.count(Presence::lost), 0U);
  EXPECT_EQ(made.left_out[0], 1U);
  EXPECT_EQ(
      made.warnings.front().text,
      "the options of the two runs differ (budget: the default in base, 90s in head), so only "
      "the cells of both runs are compared; 1 are only in base and 0 only in head");
  EXPECT_EQ(made.count(OutcomeChange::worse), 1U) << "numpy -> c was tried, and fails now";
  EXPECT_EQ(compare(base, write("head", rest, asked(""))).count(Presence::lost), 1U);
}

TEST_F(Compare, WhatHasNoProtocolIsNeverLost) {
  Entry none = refused("numpy", "none");
  none.outcome = Outcome::no_protocol;
  const auto base = write("base", {measured("numpy", "a"), none});
  const auto head = write("head", {measured("numpy", "a")});
  EXPECT_EQ(compare(base, head).cells.size(), 1U);
  EXPECT_EQ(compare(head, base).cells.size(), 1U);
  const auto worse = write("worse", {none});
  const auto had = write("had", {measured("numpy", "none")});
  EXPECT_EQ(compare(had, worse).count(OutcomeChange::worse), 1U);
}

TEST_F(Compare, WhatTheReferenceMovedByIsNoChangeOfACell) {
  const Entry entry = measured("numpy", "a");
  const auto base = write("base", {in_workers(entry, 12, 1)});
  const auto head = write("head", {in_workers(entry, 12, 2, 1.1)}, {}, 66);
  const Comparison made = compare(base, head);
  EXPECT_EQ(cell(made, "a").verdict, ChangeWord::inconclusive);
  EXPECT_EQ(cell(made, "a").inconclusive->cause, InconclusiveCause::reference_moved);
  ASSERT_FALSE(made.warnings.empty());
  EXPECT_EQ(made.warnings.front().code, "reference-moved");
  EXPECT_EQ(made.warnings.front().data.at("by"), "10 %");
}

/// The entry as measured on cores that are slower by `slower`, one worker by 3 % more than another.
Entry on_cores(Entry entry, double slower) {
  double cycle = 0.99;
  for (WorkerNumbers& worker : entry.workers) {
    cycle = cycle < 1 ? 1.02 : 0.99;
    worker.core_ns = 1200 * slower * cycle;
    worker.median_ns *= slower * cycle;
    for (double& ns : worker.samples_ns) ns *= slower * cycle;
  }
  return entry;
}

/// Entries of `a` to `d` on such cores; the times of `b` are longer by `factor`.
std::vector<Entry> four_on_cores(std::uint64_t seed, double slower, double factor) {
  std::vector<Entry> entries;
  for (const std::string name : {"a", "b", "c", "d"}) {
    const double by = name == "b" ? factor : 1;
    entries.push_back(on_cores(in_workers(measured("numpy", name), 10, seed++, by), slower));
  }
  return entries;
}

TEST_F(Compare, AnotherClockRateIsNoChange) {
  const auto base = write("base", four_on_cores(1, 1, 1));
  const Comparison same = compare(base, write("head", four_on_cores(11, 1.06, 1)));
  EXPECT_EQ(same.count(ChangeWord::same), 4U);
  ASSERT_EQ(same.warnings.size(), 1U);
  EXPECT_EQ(same.warnings[0].code, "core-speed");
  EXPECT_EQ(
      same.warnings[0].text,
      "the cores were 6.0 % slower in head; all times are those at the speed of base's cores");
  const Comparison slow = compare(base, write("head", four_on_cores(11, 0.93, 1.07)));
  EXPECT_EQ(slow.count(ChangeWord::slow), 1U);
  EXPECT_NEAR(*cell(slow, "b").ratio, 1.07, 0.02);
  EXPECT_NE(slow.warnings.at(0).text.find("7.5 % faster"), npos) << slow.warnings[0].text;
  EXPECT_TRUE(cell(slow, "b").details.empty());
}

TEST_F(Compare, TheSlowerCoresOfACellAreReported) {
  std::vector<Entry> entries = four_on_cores(11, 1, 1);
  entries[1] = on_cores(in_workers(measured("numpy", "b"), 10, 12), 1.1);
  const Comparison made = compare(write("base", four_on_cores(1, 1, 1)), write("head", entries));
  EXPECT_EQ(cell(made, "b").verdict, ChangeWord::same);
  ASSERT_EQ(cell(made, "b").details.size(), 1U);
  EXPECT_EQ(cell(made, "b").details[0],
            "its cores were 8.4 % slower than beside other cells, which the change leaves out");
  EXPECT_TRUE(cell(made, "a").details.empty());
}

TEST_F(Compare, OnlyTimesOfTheCoreAreScaled) {
  struct Kind {
    Outcome outcome;
    std::uint64_t bytes = 4096;
    std::string device = "cpu";
    std::string clock = "call";
    bool is_scaled = false;
  };
  const std::vector<Kind> kinds{
      {Outcome::zero_copy, 4 << 20, "cpu", "call", true},
      {Outcome::zero_copy, 4096, "cuda:0", "call", true},
      {Outcome::copy, 4096, "cpu", "call", true},
      {Outcome::copy, 4 << 20},
      {Outcome::unproven, 4 << 20},
      {Outcome::copy, 4096, "cuda:0"},
      {Outcome::device_copy, 4096, "cpu+cuda:0"},
      {Outcome::zero_copy, 4096, "cpu", "ready"},
  };
  const auto entries = [&](std::uint64_t seed, double slower) {
    std::vector<Entry> all;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      Entry entry = measured("numpy", std::to_string(i));
      entry.outcome = kinds[i].outcome;
      entry.cell.exchange.bytes = kinds[i].bytes;
      entry.cell.exchange.device = kinds[i].device;
      entry.cell.clock = kinds[i].clock;
      all.push_back(on_cores(in_workers(entry, 12, seed++), slower));
    }
    return all;
  };
  const Comparison made = compare(write("base", entries(1, 1)), write("head", entries(20, 1.09)));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(cell(made, std::to_string(i)).verdict,
              kinds[i].is_scaled ? ChangeWord::same : ChangeWord::slow)
        << i;
  }
}

TEST_F(Compare, SidesOfOneRunKeepTheirOwnSpeed) {
  std::vector<Entry> entries;
  for (const std::string environment : {"old", "new"}) {
    const bool is_new = environment == "new";
    for (Entry entry : four_on_cores(is_new ? 11 : 1, is_new ? 1.08 : 1, 1)) {
      entry.cell.exchange.environment = environment;
      entries.push_back(entry);
    }
  }
  auto path = write("both", entries);
  nlohmann::json document = nlohmann::json::parse(testing::read_text(path));
  nlohmann::json& environments = document["context"]["dlbench"]["environments"];
  environments["old"] = environments["new"] = environments["default"];
  testing::write_text(path, document.dump());
  const Comparison made = results::compare({{path}, "old"}, {{path}, "new"}, {});
  EXPECT_EQ(made.count(ChangeWord::slow), 4U) << "what slows the cores of one side alone counts";
  EXPECT_TRUE(made.warnings.empty());
  EXPECT_LT(*cell(made, "a").spread, 0.013) << "the scatter of the cores is removed";
}

TEST_F(Compare, TimesOfTwoBuildsAreNotScaled) {
  const auto base = write("base", four_on_cores(1, 1, 1));
  const auto head = write("head", four_on_cores(11, 1.08, 1),
                          [](nlohmann::json& context) { context["dlbench"]["build"] = "another"; });
  const Comparison made = compare(base, head);
  EXPECT_EQ(made.count(ChangeWord::slow), 4U) << "the cores may seem slower by another compiler";
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_EQ(made.warnings[0].code, "builds-differ");
  EXPECT_GT(*cell(made, "a").spread, 0.016);
}

TEST_F(Compare, WithoutTheCoresSpeedOnBothSidesTimesStayAsTheyAre) {
  std::vector<Entry> entries = four_on_cores(11, 1.08, 1);
  for (WorkerNumbers& worker : entries[0].workers) worker.core_ns.reset();
  const Comparison made = compare(write("base", four_on_cores(1, 1, 1)), write("head", entries));
  EXPECT_EQ(cell(made, "a").verdict, ChangeWord::slow);
  EXPECT_EQ(made.count(ChangeWord::same), 3U);
}

TEST_F(Compare, WhatTheScatterOfTheReferenceExplainsIsNoDrift) {
  const auto at = [&](const char* name, std::uint64_t seed, double reference_ns, double core_ns) {
    auto path = write(name, four_on_cores(seed, 1, name == std::string("base") ? 1 : 1.08));
    nlohmann::json document = nlohmann::json::parse(testing::read_text(path));
    document["context"]["dlbench"]["environments"]["default"]["reference_exchange"] = {
        {"median_ns", reference_ns}, {"core_ns", core_ns}, {"spread", 0.012}, {"workers", 9}};
    testing::write_text(path, document.dump());
    return path;
  };
  const auto base = at("base", 1, 60, 1200);
  const auto width = [&](const Comparison& made) {
    return std::log(*cell(made, "a").hi / *cell(made, "a").lo);
  };
  const Comparison equal = compare(base, at("head", 11, 60, 1200));
  EXPECT_EQ(cell(equal, "b").verdict, ChangeWord::slow);
  // 1.5 % is less than three times the error of two medians. It only widens the intervals.
  const Comparison near = compare(base, at("head", 11, 60.9, 1200));
  EXPECT_EQ(cell(near, "b").p, cell(equal, "b").p);
  EXPECT_NEAR(width(near), width(equal) + 2 * std::log(1.015), 1e-9);
  // The cores' speed explains 10 %.
  EXPECT_NEAR(width(compare(base, at("head", 11, 66, 1320))), width(equal), 1e-9);
  const Comparison moved = compare(base, at("head", 11, 66, 1200));
  EXPECT_NEAR(width(moved), width(equal) + 2 * std::log(1.1), 1e-9);
  EXPECT_GT(cell(moved, "b").p, cell(equal, "b").p);
  EXPECT_EQ(moved.warnings.at(0).code, "reference-moved");
}

TEST_F(Compare, EachEnvironmentHasItsOwnReference) {
  const auto side = [&](const char* name, std::uint64_t seed, double factor, int of_b) {
    Entry entry = in_workers(measured("numpy", "a"), 12, seed, factor);
    entry.cell.exchange.environment = "a";
    auto path = write(name, {entry});
    nlohmann::json document = nlohmann::json::parse(testing::read_text(path));
    nlohmann::json& environments = document["context"]["dlbench"]["environments"];
    environments = {{"a", environments["default"]}, {"b", environments["default"]}};
    environments["a"]["reference_exchange"] = {{"median_ns", 60}, {"spread", 0.01}, {"workers", 6}};
    environments["b"]["reference_exchange"] = {
        {"median_ns", 72}, {"spread", 0.01}, {"workers", of_b}};
    testing::write_text(path, document.dump());
    return path;
  };
  const auto base = side("base", 1, 1, 5), head = side("head", 2, 1.1, 7);
  const Comparison made = compare(base, head);
  EXPECT_TRUE(made.warnings.empty());
  EXPECT_EQ(cell(made, "a").verdict, ChangeWord::slow);
  const Comparison one = results::compare({{base}, "a"}, {{head}, "a"}, {});
  EXPECT_TRUE(one.warnings.empty());
  EXPECT_EQ(one.cells.at(0).verdict, ChangeWord::slow);
}

TEST_F(Compare, CellsComeAndGo) {
  Entry not_run = refused("numpy", "budget");
  not_run.outcome = Outcome::not_run;
  const auto base = write(
      "base", {measured("numpy", "a"), measured("numpy", "gone"), measured("numpy", "budget")});
  const auto head = write("head", {measured("numpy", "a"), measured("numpy", "new"), not_run});
  const Comparison made = compare(base, head);
  EXPECT_EQ(cell(made, "gone").presence, Presence::lost);
  EXPECT_EQ(cell(made, "budget").presence, Presence::lost);
  EXPECT_EQ(cell(made, "budget").outcome_change, OutcomeChange::none);
  EXPECT_EQ(cell(made, "new").presence, Presence::gained);
  EXPECT_FALSE(cell(made, "new").verdict);
  const auto other = write("other", {measured("torch", "b")});
  EXPECT_NE(usage_error([&] { compare(base, other); }).find("no cell in common"), npos);
}

TEST_F(Compare, WhatNeitherSideHasIsNoCell) {
  const auto absent = [](const std::string& consumer, Outcome outcome) {
    Entry entry = refused("numpy", consumer);
    entry.outcome = outcome;
    return entry;
  };
  const Entry skipped = absent("skipped", Outcome::not_run);
  const auto base = write("base", {measured("numpy", "a"), skipped, measured("numpy", "gone"),
                                   absent("uninstalled", Outcome::not_installed)});
  const auto head =
      write("head", {measured("numpy", "a"), skipped, absent("gone", Outcome::not_run),
                     absent("uninstalled", Outcome::not_run), absent("new", Outcome::no_device)});
  const Comparison made = compare(base, head);
  EXPECT_EQ(made.cells.size(), 2U);
  EXPECT_EQ(made.count(OutcomeChange::other), 0U);
  EXPECT_EQ(made.count(Presence::lost), 1U);
  const auto nothing = write("nothing", {skipped});
  const auto more = write("more", {skipped, measured("numpy", "new")});
  EXPECT_NE(usage_error([&] { compare(nothing, nothing); }).find("no cell in common"), npos);
  EXPECT_NE(usage_error([&] { compare(nothing, more); }).find("no cell in common"), npos);
  const auto lost = write("lost", {absent("gone", Outcome::no_device)});
  EXPECT_EQ(compare(base, lost).count(Presence::lost), 2U);
}

TEST_F(Compare, TwoMachinesAreRefusedByName) {
  const auto base = write("base", {measured("numpy", "a")});
  const auto at = [&](const char* key, const nlohmann::json& value) {
    return write("head", {measured("numpy", "a")},
                 [&](nlohmann::json& context) { context["dlbench"]["machine"][key] = value; });
  };
  std::string message = usage_error([&] { compare(base, at("cpu", "Another CPU")); });
  EXPECT_NE(message.find("cpu (\"A CPU\", \"Another CPU\")"), npos) << message;
  message = usage_error([&] { compare(base, at("cores", 64)); });
  EXPECT_NE(message.find("cores (2, 64)"), npos) << message;
  message = usage_error([&] {
    compare(base, at("devices", {{{"name", "cuda"}, {"state", "ok"}}}));
  });
  EXPECT_NE(message.find("devices"), npos) << message;
  CompareOptions force;
  force.force = true;
  EXPECT_EQ(compare(base, at("cores", 64), force).cells.size(), 1U);
  const auto host = write("head", {measured("numpy", "a")}, [](nlohmann::json& context) {
    context["host_name"] = "there";
    context["mhz_per_cpu"] = 1;
    context["dlbench"]["machine"]["governor"] = "powersave";
  });
  EXPECT_EQ(compare(base, host).cells.size(), 1U);
}

TEST_F(Compare, TheModelOfADeviceMattersAndNotItsNumber) {
  const auto with = [&](const char* name, const nlohmann::json& cuda) {
    return write(name, {measured("numpy", "a")}, [&](nlohmann::json& context) {
      context["dlbench"]["machine"]["devices"] = {{{"name", "cpu"}, {"state", "ok"}}, cuda};
    });
  };
  const auto gpu = [](const char* model, const char* uuid) {
    const nlohmann::json unit{{"name", model}, {"uuid", uuid}, {"mode", "default"}};
    return nlohmann::json{
        {"name", "cuda"}, {"state", "ok"}, {"version", "13.0"}, {"units", {unit}}};
  };
  const auto base = with("base", gpu("A", "GPU-1"));
  EXPECT_EQ(compare(base, with("same", gpu("A", "GPU-2"))).cells.size(), 1U);
  EXPECT_NE(usage_error([&] { compare(base, with("head", gpu("B", "GPU-1"))); }).find("devices"),
            npos);
  const auto none = [](const char* state, const char* message) {
    return nlohmann::json{{"name", "cuda"}, {"state", state}, {"message", message}};
  };
  const auto without = with("without", none("no-library", "libcuda.so.1 not found"));
  EXPECT_EQ(compare(without, with("either", none("no-device", "cuInit"))).cells.size(), 1U);
}

TEST_F(Compare, EnvironmentsOfOneRunAreSides) {
  std::vector<Entry> entries;
  for (const char* name : {"old", "new"}) {
    Entry entry = in_workers(measured("numpy", "a"), 10, 1, name[0] == 'n' ? 1.2 : 1);
    entry.cell.exchange.environment = name;
    entries.push_back(entry);
  }
  const auto path = write("run", entries, [](nlohmann::json& context) {
    for (const char* name : {"old", "new"}) {
      context["dlbench"]["environments"][name] = {{"python", "3.11.7"}};
    }
  });
  const Comparison made = results::compare({{path}, "old"}, {{path}, "new"}, {});
  ASSERT_EQ(made.cells.size(), 1U);
  EXPECT_EQ(made.cells[0].name.find("environment"), npos);
  EXPECT_EQ(made.cells[0].verdict, ChangeWord::slow);
  // Further documents of the same side bring further workers.
  const Comparison more = results::compare({{path, path}, "old"}, {{path, path}, "new"}, {});
  EXPECT_EQ(more.cells[0].base.workers, 20U);
  const std::string message = usage_error([&] {
    results::compare({{path}, "older"}, {{path}, "new"}, {});
  });
  EXPECT_NE(message.find("no environment 'older'"), npos) << message;
}

TEST_F(Compare, CountsHaveNoChanceInThem) {
  const auto counted = [&](const char* name, double first, double second) {
    Entry a = measured("numpy", "a"), b = measured("numpy", "b");
    a.instructions = first;
    b.instructions = second;
    return write(name, {a, b, measured("numpy", "uncounted")});
  };
  CompareOptions options{0.01, 0.01, true, false};
  const auto base = counted("base", 1000, 1000);
  const Comparison made = compare(base, counted("head", 1010, 1009), options);
  EXPECT_EQ(cell(made, "a").verdict, ChangeWord::slow);
  EXPECT_EQ(cell(made, "b").verdict, ChangeWord::same);
  EXPECT_EQ(*cell(made, "a").base.value, 1000);
  EXPECT_FALSE(cell(made, "uncounted").verdict);
  EXPECT_EQ(cell(compare(base, counted("head", 985, 1000), options), "a").verdict,
            ChangeWord::fast);
  const auto none = write("none", {measured("numpy", "a")});
  EXPECT_NE(
      usage_error([&] { compare(none, none, options); }).find("no cell has an instruction count"),
      npos);
}

TEST_F(Compare, ACountOfOneSideOnlyIsLostOrGained) {
  Entry counted = measured("numpy", "a"), b = measured("numpy", "b");
  counted.instructions = b.instructions = 1000;
  Entry failed = measured("numpy", "a");
  const auto base = write("base", {counted, b});
  const auto head = write("head", {failed, b});
  const CompareOptions options{0.01, 0.01, true, false};
  const Comparison made = compare(base, head, options);
  EXPECT_EQ(made.count(Presence::lost), 1U);
  EXPECT_EQ(cell(made, "a").presence, Presence::lost);
  EXPECT_EQ(cell(made, "a").details, std::vector<std::string>{"not counted in head"});
  EXPECT_EQ(cell(compare(head, base, options), "a").presence, Presence::gained);
  EXPECT_EQ(cell(compare(base, head), "a").presence, Presence::both) << "of times";
  failed.outcome = Outcome::copy;
  const Comparison copied = compare(base, write("copied", {failed, b}), options);
  EXPECT_EQ(copied.count(OutcomeChange::worse), 1U);
}

}  // namespace
}  // namespace dlbench::results

#include "results/document.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sample.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;
using testing::FileSizeLimit;
using testing::read_text;
using testing::run;
using testing::TemporaryFolder;
using testing::usage_error;

json written(const TemporaryFolder& folder, const JournalContents& contents) {
  write_document(contents, folder / "results.json");
  return json::parse(read_text(folder / "results.json"));
}

TEST(Document, ItIsValidAndSortedByName) {
  const TemporaryFolder folder;
  const json document = written(folder, run());
  EXPECT_NO_THROW(validate_document(folder / "results.json"));
  ASSERT_EQ(document["benchmarks"].size(), 2U);
  EXPECT_EQ(document["benchmarks"][0]["producer"], "numpy");
  EXPECT_EQ(document["benchmarks"][1]["producer"], "torch");
  ASSERT_EQ(document["not_measured"].size(), 1U);
  EXPECT_EQ(document["not_measured"][0]["reason"], "no");
}

TEST(Document, TheContextGathersWhatTheWorkersSaid) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.workers[1].floors_ns["call"] = 24;
  contents.workers.push_back(testing::worker(63, 30));
  contents.workers[2].libraries = {{"torch", "2.13.0"}};
  contents.workers.push_back(testing::worker(80));
  contents.workers[3].environment = "old";
  contents.ends.push_back({10, 5, 15});
  const json document = written(folder, contents);

  const json& context = document["context"];
  EXPECT_EQ(context["host_name"], "here");
  EXPECT_EQ(context["caches"].size(), 1U);
  const json& about = context["dlbench"];
  EXPECT_EQ(about["schema"], 1);
  EXPECT_EQ(about["wall_s"], 71.5);
  EXPECT_EQ(about["round_s"], 45.25);
  EXPECT_EQ(about["signal"], 15);
  EXPECT_EQ(about["machine"]["cpu"], "A CPU");
  const json& environment = about["environments"]["default"];
  EXPECT_EQ(environment["python"], "3.11.7");
  EXPECT_EQ(environment["gil"], true);
  EXPECT_EQ(environment["libraries"], (json{{"numpy", "2.4.6"}, {"torch", "2.13.0"}}));
  EXPECT_EQ(environment["floors_ns"]["call"], 24);
  EXPECT_EQ(environment["reference_exchange"]["median_ns"], 63);
  EXPECT_EQ(environment["reference_exchange"]["workers"], 3);
  EXPECT_DOUBLE_EQ(environment["reference_exchange"]["spread"].get<double>(), 1.5 / 63);
  EXPECT_FALSE(about["environments"]["old"]["reference_exchange"].contains("spread"));
}

TEST(Document, TheReferenceHasTheSpeedOfItsCoresIfEachWorkerHas) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  const auto reference = [&] {
    const json document = written(folder, contents);
    return document["context"]["dlbench"]["environments"]["default"]["reference_exchange"];
  };
  contents.workers[0].reference_core_ns = 1200;
  EXPECT_FALSE(reference().contains("core_ns"));
  contents.workers[1].reference_core_ns = 1260;
  EXPECT_EQ(reference()["core_ns"], 1230);
}

TEST(Document, WhatProcessesDifferByIsScaledByExchangesOfThatLength) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.entries[1] = testing::measured("jax", "jax", 61);
  const json document = written(folder, contents);
  for (const json& entry : document["benchmarks"]) {
    const double below = entry["real_time"].get<double>() - entry["lo_ns"].get<double>();
    EXPECT_NEAR(below / entry["real_time"].get<double>(), 0.01, 1e-9) << "no interval is widened";
    EXPECT_EQ(entry["interval"], "range") << "of three rounds";
    // The reference exchanges took 60 and 66 ns.
    const bool known = entry["producer"] == "jax";
    EXPECT_EQ(entry.contains("between_half_width"), known);
    EXPECT_EQ(entry["warnings"].size(), known ? 0U : 1U);
    if (!known) {
      EXPECT_EQ(entry["warnings"][0]["code"], "one-process");
    }
  }
  const json rows = document["context"]["dlbench"]["environments"]["default"]["between_processes"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["length_ns"], 64);
  EXPECT_EQ(rows[0]["series"], 1);
  EXPECT_GT(rows[0]["half_width"], 0.5) << "two processes show little";
  EXPECT_NO_THROW(validate_document(folder / "results.json"));
}

TEST(Document, CellsOfSeveralProcessesModerateEachOther) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.entries.clear();
  contents.workers.resize(1);
  const std::vector<std::vector<double>> off{
      {1, 1.03, 0.97}, {1.02, 1, 0.98}, {0.97, 1.02, 1}, {1, 1.0001, 1.0002}};
  for (std::size_t i = 0; i < off.size(); ++i) {
    Entry entry = testing::measured("numpy", "c" + std::to_string(i), 1000);
    entry.workers.clear();
    for (const double each : off[i]) entry.workers.push_back({1000 * each, 5000, {1000 * each}});
    contents.entries.push_back(entry);
  }
  contents.entries.push_back(testing::measured("one", "one", 1000));
  const json document = written(folder, contents);
  for (const json& entry : document["benchmarks"]) {
    const double median = entry["real_time"];
    EXPECT_TRUE(entry.contains("between_half_width"));
    EXPECT_EQ(entry["warnings"].size(), 0U);
    if (entry["producer"] == "one") continue;
    EXPECT_EQ(entry["interval"], "processes");
    EXPECT_GT(entry["hi_ns"], median * 1.001) << "processes that agree by chance: 1.0003 alone";
    EXPECT_LT(entry["hi_ns"], median * 1.09) << "three alone would know less";
  }
  // What is written again comes out the same: a resumed run, or a repaired one.
  EXPECT_EQ(written(folder, contents), document);
}

TEST(Document, ACopyThatFitsTheCacheIsMarked) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.header.context["caches"] = {{{"level", 3}, {"size", 4096}}};
  contents.workers[0].copy_floors_gb_per_s = {{"warm", 20.0}};
  contents.entries = {testing::measured("small", "b"), testing::measured("large", "b"),
                      testing::measured("slow", "b"), testing::measured("at-limit", "b")};
  for (Entry& entry : contents.entries) {
    entry.gb_per_s = entry.cell.exchange.producer == "slow" ? 1.9 : 2;
    entry.cell.exchange.bytes = entry.cell.exchange.producer == "large" ? 8192 : 8191;
  }
  const json document = written(folder, contents);
  for (const json& entry : document["benchmarks"]) {
    const bool marked = entry["warnings"].dump().find("in-cache") != npos;
    EXPECT_EQ(marked, entry["producer"] == "small" || entry["producer"] == "at-limit") << entry;
  }
}

TEST(Document, TheSlopeIsJudgedByTheRunsOwnCopyFloor) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.workers[0].copy_floors_gb_per_s = {{"warm", 10.0}};
  Entry large = contents.entries[0];
  large.cell.exchange.bytes = 64 << 20;
  contents.entries.push_back(large);
  const json document = written(folder, contents);
  std::string slopes;
  for (const json& entry : document["benchmarks"]) {
    slopes += entry["evidence"]["slope"].get<std::string>() + " ";
  }
  EXPECT_EQ(slopes, "skipped skipped yes ");
}

TEST(Document, ARateAboveThatOfAllCoresIsNone) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.header.context["num_cpus"] = 2;
  contents.entries.resize(2);
  for (Entry& entry : contents.entries) {
    entry.gb_per_s = 19;
    entry.hi_ns = entry.median_ns;
  }
  contents.entries[1].cell.clock = "ready";
  contents.entries[1].gb_per_s = 34'829;
  const std::string size = std::to_string(contents.entries[0].cell.exchange.bytes);
  contents.workers[0].copy_floors_gb_per_s = {{"warm", 1.0}, {"warm " + size, 10.0}};
  const json document = written(folder, contents);
  for (const json& entry : document["benchmarks"]) {
    EXPECT_EQ(entry.contains("gb_per_s"), entry["clock"] == "call") << entry;
  }
}

TEST(Document, TheCopyFloorsOfAnyWorkerAreTheEnvironments) {
  const TemporaryFolder folder;
  JournalContents contents = run();
  contents.workers[0].copy_floors_gb_per_s = {{"warm", 16.0}, {"fresh", 0.5}};
  const json context = written(folder, contents)["context"]["dlbench"];
  const json& rates = context["environments"]["default"]["copy_floors_gb_per_s"];
  EXPECT_EQ(rates, (json{{"warm", 16.0}, {"fresh", 0.5}}));
  EXPECT_NO_THROW(validate_document(folder / "results.json"));
}

TEST(Document, AJournalAloneIsEnough) {
  const TemporaryFolder folder;
  {
    Journal journal = Journal::create(folder / "journal.jsonl", testing::header());
    journal.append(testing::measured("numpy", "torch"));
  }
  testing::write_text(folder / "journal.jsonl",
                      read_text(folder / "journal.jsonl") + "{\"entry\":{\"na");
  EXPECT_EQ(write_document(folder.path()), folder / "results.json");
  EXPECT_NO_THROW(validate_document(folder / "results.json"));
  EXPECT_EQ(json::parse(read_text(folder / "results.json"))["context"]["dlbench"]["wall_s"], 0);
}

TEST(Document, AHeaderThatKnowsNothingStillMakesAValidDocument) {
  const TemporaryFolder folder;
  JournalContents contents;
  written(folder, contents);
  EXPECT_EQ(usage_error([&] { validate_document(folder / "results.json"); }), "");
}

TEST(Document, AFullDiskLeavesTheOldDocument) {
  const TemporaryFolder folder;
  testing::write_text(folder / "results.json", "old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_THROW(write_document(run(), folder / "results.json"), DiskError);
  }
  EXPECT_EQ(read_text(folder / "results.json"), "old");
  EXPECT_EQ(testing::files_in(folder.path()), 1U);
}

TEST(Document, ItRefusesWhatNoDocumentMayHold) {
  const TemporaryFolder folder;
  testing::write_text(folder / "results.json", "old");
  JournalContents contents = run();
  contents.entries[0].mad_ns = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(usage_error([&] { write_document(contents, folder / "results.json"); }).find("/mad_ns"),
            npos);
  contents = run();
  contents.entries.push_back(contents.entries[0]);
  EXPECT_NE(
      usage_error([&] { write_document(contents, folder / "results.json"); }).find("two entries"),
      npos);
  EXPECT_EQ(read_text(folder / "results.json"), "old");
  EXPECT_EQ(testing::files_in(folder.path()), 1U);
}

}  // namespace
}  // namespace dlbench::results

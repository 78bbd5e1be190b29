#include "trace/chrome.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "model/names.hpp"
#include "trace/recorder.hpp"
#include "trace/roctx.hpp"

namespace dlbench::trace {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> ranges_of(const Json& trace) {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") found.push_back(event);
  }
  return found;
}

TEST(Chrome, RangesStandInTheirCellWithTheirBytes) {
  record_ranges(16);
  {
    const Range cell("the cell", Category::cell, 4096);
    const Range exchange("exchange", Category::exchange, 4096);
    const Range ready("ready", Category::ready, 4096);
  }
  { const Range outside("load numpy", Category::worker); }
  const Json trace = chrome_trace(drain_recording(), {7, "native and numpy"});
  const std::vector<Json> ranges = ranges_of(trace);
  ASSERT_EQ(ranges.size(), 4U);
  const std::vector<std::string> names{"the cell", "exchange", "ready", "load numpy"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(ranges[i]["name"], names[i]);
    EXPECT_EQ(ranges[i]["pid"], 7);
    EXPECT_EQ(ranges[i]["args"].contains("cell"), i < 3);
    if (i == 0 || i == 3) continue;
    const double begin = ranges[i]["ts"], outer = ranges[i - 1]["ts"];
    const double took = ranges[i]["dur"], outer_took = ranges[i - 1]["dur"];
    EXPECT_GE(begin, outer);
    EXPECT_LE(begin + took, outer + outer_took + 1e-3);
  }
  EXPECT_EQ(ranges[1]["args"]["bytes"], 4096);
  EXPECT_EQ(ranges[1]["cat"], "exchange");
  const Json& first = trace["traceEvents"][0];
  EXPECT_EQ(first["ph"], "M");
  EXPECT_EQ(first["args"]["name"], "native and numpy");
  EXPECT_EQ(trace["otherData"]["lost"], 0);
}

TEST(Chrome, EachThreadHasANameAndNoOthersCell) {
  record_ranges(16);
  {
    const Range cell("the cell", Category::cell);
    std::thread([] { const Range other("other", Category::worker); }).join();
  }
  const Json trace = chrome_trace(drain_recording(), {1, "both"});
  int named_threads = 0;
  for (const Json& event : trace["traceEvents"]) {
    named_threads += event["name"] == "thread_name";
    EXPECT_TRUE(event["name"] != "other" || !event["args"].contains("cell"));
  }
  EXPECT_EQ(named_threads, 2);
}

TEST(Recorder, TheOldestMakeRoomAndAreCounted) {
  record_ranges(2);
  for (const char* name : {"one", "two", "three"}) const Range range(name, Category::worker);
  const Recording taken = drain_recording();
  ASSERT_EQ(taken.events.size(), 2U);
  EXPECT_EQ(taken.events[0].name->text(), "two");
  EXPECT_EQ(taken.events[1].name->text(), "three");
  EXPECT_EQ(taken.lost, 1U);
  EXPECT_TRUE(drain_recording().events.empty());
}

TEST(Roctx, WhatItHasNoFieldForStandsInTheMessage) {
  EXPECT_EQ(roctx::message(named("export", Category::export_), 4096), "dlbench:export bytes=4096");
}

TEST(Range, EveryPhaseHasItsCategory) {
  for (const std::string_view phase : kPhases) EXPECT_EQ(name_of(category_of(phase)), phase);
}

}  // namespace
}  // namespace dlbench::trace

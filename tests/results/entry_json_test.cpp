#include <gtest/gtest.h>

#include <limits>

#include "results/records.hpp"
#include "results/schema/strict_json.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using testing::measured;
using testing::refused;
using testing::usage_error;

Entry from_text(std::string text) {
  const Parsed parsed = parse_strict(std::move(text), "text");
  const Fields item(parsed.value(), "item");
  return entry_from_json(item, item.has("real_time"));
}

Entry through_json(const Entry& entry) {
  return from_text(entry_to_json(entry).dump());
}

std::vector<std::string> keys(const OrderedJson& item) {
  std::vector<std::string> all;
  for (const auto& [key, value] : item.items()) all.push_back(key);
  return all;
}

TEST(EntryJson, MeasuredItemHasTheKeysOfTheContractInItsOrder) {
  const std::vector<std::string> expected{
      "name",        "run_name",   "run_type",  "repetitions", "repetition_index",
      "threads",     "iterations", "real_time", "cpu_time",    "time_unit",
      "phase",       "clock",      "producer",  "consumer",    "protocol",
      "device",      "case",       "bytes",     "environment", "outcome",
      "changed",     "evidence",   "lo_ns",     "hi_ns",       "mad_ns",
      "floor_ratio", "warnings",   "workers",   "observed"};
  const OrderedJson item = entry_to_json(measured("numpy", "torch"));
  EXPECT_EQ(keys(item), expected);
  EXPECT_EQ(
      item["name"],
      "exchange/producer:numpy/consumer:torch/protocol:dlpack/device:cpu/case:f32/bytes:4096");
  EXPECT_EQ(item["observed"]["struct"], "versioned");
  EXPECT_EQ(item["workers"][0]["samples_ns"].size(), 3U);
}

TEST(EntryJson, ItemWithoutANumberHasItsNameItsAxesAndTheReason) {
  const std::vector<std::string> expected{"name",     "phase",  "clock", "producer", "consumer",
                                          "protocol", "device", "case",  "bytes",    "environment",
                                          "outcome",  "reason", "code",  "exception"};
  EXPECT_EQ(keys(entry_to_json(refused("cupy", "numpy"))), expected);
}

TEST(EntryJson, EveryFieldOfAMeasuredEntrySurvives) {
  Entry entry = measured("jax", "numpy", 17.25);
  entry.cell.clock = "ready";
  entry.cell.exchange.environment = "old";
  entry.cell.exchange.case_name = "f32-align4";
  entry.cell.exchange.bytes = (std::uint64_t{1} << 53) - 1;
  entry.outcome = Outcome::copy;
  entry.changed = {"dtype", "layout"};
  entry.copied_by = "consumer";
  entry.late_read = true;
  entry.gb_per_s = 2.25;
  entry.instructions = 2324.5;
  entry.evidence.guard = Proof::no;
  entry.observed.flags = {"read-only"};
  entry.observed.guard = {1024, 1000, 3, 540, {"libone.so", "libtwo.so"}};
  warn(entry.warnings, "few-pages-read", "3 of 9 pages", {{"read", "3"}, {"pages", "9"}});
  warn(entry.warnings, "few-rounds");
  entry.workers.push_back({18, 90000, {17.5, 18.5}});
  entry.workers[1].outcome = Outcome::zero_copy;
  entry.workers[1].iterations = 500;
  entry.has_ready = true;

  const Entry back = through_json(entry);
  EXPECT_EQ(entry_to_json(back), entry_to_json(entry));
  EXPECT_EQ(back.cell, entry.cell);
  EXPECT_EQ(back.gb_per_s, 2.25);
  EXPECT_EQ(back.instructions, 2324.5);
  EXPECT_TRUE(back.late_read);
  EXPECT_EQ(back.copied_by, "consumer");
  EXPECT_EQ(back.workers[1].samples_ns, entry.workers[1].samples_ns);
  EXPECT_FALSE(back.workers[0].outcome);
  EXPECT_EQ(back.workers[1].outcome, Outcome::zero_copy);
  EXPECT_FALSE(back.workers[0].iterations);
  EXPECT_EQ(back.workers[1].iterations, 500U);
  EXPECT_TRUE(back.has_ready);
  EXPECT_EQ(back.observed.version, entry.observed.version);
  EXPECT_EQ(back.evidence.guard, Proof::no);
  ASSERT_TRUE(back.observed.guard.has_value());
  EXPECT_EQ(back.observed.guard->late, 540U);
  EXPECT_EQ(back.observed.guard->by, entry.observed.guard->by);
}

TEST(EntryJson, ATimeOfADeviceHasItsTimer) {
  Entry entry = measured("jax", "numpy", 17.25);
  entry.cell.clock = "device";
  entry.device_timer = {1000, 2048.5, 30};
  entry.workers[0].samples_ns = {-3, 17.25, 40};
  const Entry back = through_json(entry);
  EXPECT_EQ(entry_to_json(back), entry_to_json(entry));
  EXPECT_EQ(back.device_timer->step_ns, 1000);
  EXPECT_EQ(back.device_timer->empty_ns, 2048.5);
  entry.cell.clock = "call";
  EXPECT_NE(usage_error([&] { through_json(entry); }), "");
}

TEST(EntryJson, WhatIsBelowTheResolutionKeepsItsBoundAndItsOutcome) {
  Entry entry = refused("a", "b");
  entry.cell.clock = "device";
  entry.outcome = Outcome::unsupported;
  entry.code = "below-resolution";
  entry.below_ns = 31.25;
  entry.device_timer = {1000, 2000, 0};
  entry.found = Outcome::zero_copy;
  const Entry back = through_json(entry);
  EXPECT_EQ(entry_to_json(back), entry_to_json(entry));
  EXPECT_EQ(back.below_ns, 31.25);
  EXPECT_EQ(back.found, Outcome::zero_copy);
  EXPECT_EQ(back.device_timer->empty_ns, 2000);
  entry.outcome = Outcome::refused;
  EXPECT_NE(usage_error([&] { through_json(entry); }), "");
}

TEST(EntryJson, EveryFieldOfAReasonSurvives) {
  Entry entry = refused("a", "b");
  entry.outcome = Outcome::crashed;
  entry.signal = "SIGSEGV";
  entry.stderr_tail = "line\nline";
  entry.code = "budget";
  entry.data = {{"became", "a list"}};
  warn(entry.warnings, "import-order", "odd", {{"first", "b"}});
  entry.observed = {"buffer", "direct", {"__dlpack__() -> TypeError"}, "", {}, {}, {}};
  const Entry back = through_json(entry);
  EXPECT_EQ(entry_to_json(back), entry_to_json(entry));
  EXPECT_EQ(back.signal, "SIGSEGV");
  EXPECT_EQ(back.stderr_tail, "line\nline");
  EXPECT_EQ(back.code, "budget");
  EXPECT_EQ(back.data, entry.data);
  EXPECT_EQ(back.observed.calls, entry.observed.calls);
}

TEST(EntryJson, TheCodeIsTheOutcomeWhereNothingFinerIsKnown) {
  Entry entry = refused("a", "b");
  entry.outcome = Outcome::crashed;
  EXPECT_EQ(entry_to_json(entry)["code"], "crashed");
  EXPECT_EQ(through_json(entry).code, "");
}

TEST(EntryJson, AGuardThatCountsMorePagesThanThereAreIsRefused) {
  Entry entry = measured("a", "b");
  entry.observed.guard = {4, 4, 0, 4, {}};
  EXPECT_NO_THROW(through_json(entry));
  for (const GuardCounts& odd : {GuardCounts{0, 0, 0, 0, {}}, GuardCounts{4, 5, 0, 0, {}},
                                 GuardCounts{4, 0, 5, 0, {}}, GuardCounts{4, 1, 0, 2, {}}}) {
    entry.observed.guard = odd;
    EXPECT_NE(usage_error([&] { through_json(entry); }).find("/observed/guard/"),
              std::string::npos);
  }
}

TEST(EntryJson, NumbersKeepEveryBit) {
  Entry entry = measured("a", "b", 0.1 + 0.2);
  entry.lo_ns = 1e-300;
  entry.hi_ns = 1e18;
  const Entry back = through_json(entry);
  EXPECT_EQ(back.median_ns, entry.median_ns);
  EXPECT_EQ(back.lo_ns, entry.lo_ns);
  EXPECT_EQ(back.hi_ns, entry.hi_ns);
}

TEST(EntryJson, ANumberThatIsNotFiniteIsRefusedWithItsPlace) {
  OrderedJson item = entry_to_json(measured("a", "b"));
  EXPECT_NO_THROW(require_finite(item));
  item["workers"][0]["samples_ns"][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(usage_error([&] { require_finite(item); }).find("/workers/0/samples_ns/1"),
            std::string::npos);
  item = entry_to_json(measured("a", "b"));
  item["hi_ns"] = std::numeric_limits<double>::infinity();
  EXPECT_NE(usage_error([&] { require_finite(item); }).find("/hi_ns"), std::string::npos);
}

TEST(EntryJson, TheBreakdownOfAnExchangeSurvives) {
  Entry entry = measured("numpy", "torch");
  entry.breakdown =
      Breakdown{"type", 1000, -12.5,
                -20,    -3,   {{"query", "__dlpack_device__()", 100}, {"import", "own", -0.5}}};
  const Entry back = through_json(entry);
  ASSERT_TRUE(back.breakdown);
  EXPECT_EQ(back.breakdown->via, "type");
  EXPECT_EQ(back.breakdown->exchange_ns, 1000);
  EXPECT_EQ(back.breakdown->unexplained_ns, -12.5);
  EXPECT_EQ(back.breakdown->unexplained_lo_ns, -20);
  EXPECT_EQ(back.breakdown->unexplained_hi_ns, -3);
  ASSERT_EQ(back.breakdown->parts.size(), 2U);
  EXPECT_EQ(back.breakdown->parts[0].what, "__dlpack_device__()");
  EXPECT_EQ(back.breakdown->parts[1].ns, -0.5);
}

TEST(EntryJson, ABreakdownOfAnotherShapeIsRefused) {
  Entry entry = measured("numpy", "torch");
  entry.breakdown = Breakdown{"type", 1000, 2, 1, 3, {{"query", "x", 1}}};
  const auto error_with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json item = nlohmann::json::parse(entry_to_json(entry).dump());
    item[nlohmann::json::json_pointer(pointer)] = value;
    return usage_error([&] { from_text(item.dump()); });
  };
  EXPECT_NE(error_with("/unexplained_ns", "x").find("/unexplained_ns"), std::string::npos);
  EXPECT_NE(error_with("/unexplained_lo_ns", 9).find("at most"), std::string::npos);
  EXPECT_NE(error_with("/phases/exchange_ns", 0).find("/phases/exchange_ns"), std::string::npos);
  EXPECT_NE(error_with("/phases/parts/0/phase", "x").find("/phases/parts/0"), std::string::npos);
}

TEST(EntryJson, AWorkersOutcomeIsOneOfAMeasuredCell) {
  Entry entry = measured("numpy", "torch");
  entry.workers[0].outcome = Outcome::refused;
  EXPECT_NE(usage_error([&] { through_json(entry); }).find("/workers/0/outcome"),
            std::string::npos);
}

TEST(EntryJson, OnlyAPhaseMayHaveSamplesBelowZero) {
  Entry entry = measured("numpy", "torch");
  entry.workers[0].samples_ns[0] = -1;
  EXPECT_NE(usage_error([&] { through_json(entry); }), "");
  entry.cell.phase = "release";
  EXPECT_EQ(through_json(entry).workers[0].samples_ns[0], -1);
}

}  // namespace
}  // namespace dlbench::results

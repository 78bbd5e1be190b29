#include "recorded_run.hpp"
#include "results/schema/strict_json.hpp"

namespace dlbench::results {
namespace {

using testing::usage_error;

Ordering ordering() {
  Ordering one;
  one.is_own_call = true;
  one.expected = kOrder;
  one.waits = Waits::host;
  one.content = "new";
  one.transfer_ns = 1200.5;
  one.export_blocked = 0.99;
  one.import_blocked = -0.001;
  return one;
}

Ordering refused_argument() {
  Ordering one;
  one.stream = "-1";
  one.reason = {"argument-refused", "TypeError: no stream", {{"exception", "TypeError"}}};
  return one;
}

class Sync : public testing::RecordedRun {
 protected:
  void append(const SyncRecord& record) const {
    append_afterwards<SyncRecord>(folder_.path(), {record});
  }
};

TEST_F(Sync, BecomesAListOfItsEntry) {
  append({cell_, {ordering(), refused_argument()}, "safe", "", ""});
  const nlohmann::json entry = document()["benchmarks"][0];
  const nlohmann::json expected = nlohmann::json::parse(R"([
    {"stream": null, "requested_by": "consumer", "reads_on": "own", "expected": "order", "waits": "host", "content": "new",
     "transfer_ns": 1200.5, "export_blocked": 0.99, "import_blocked": -0.001},
    {"stream": -1, "requested_by": "dlbench", "reads_on": "own", "reason": "TypeError: no stream",
     "code": "argument-refused", "data": {"exception": "TypeError"}}])");
  EXPECT_EQ(entry["sync"], expected);
  EXPECT_EQ(entry["late_free"], "safe");
  const Entry back = first();
  ASSERT_EQ(back.sync.size(), 2U);
  EXPECT_EQ(back.sync[0].import_blocked, -0.001);
  EXPECT_EQ(back.sync[1].stream, "-1");
  EXPECT_EQ(back.sync[1].reason, refused_argument().reason);
}

TEST_F(Sync, ARaceTakesTheNumberAwayAndKeepsWhatWasSeen) {
  Ordering one = ordering();
  one.waits = Waits::none;
  one.content = "old";
  append({cell_, {one}, "", "torch read what was there before", ""});
  const nlohmann::json whole = document();
  EXPECT_TRUE(whole["benchmarks"].empty());
  nlohmann::json entry;
  for (const nlohmann::json& each : whole["not_measured"]) {
    if (each["name"] == cell_) entry = each;
  }
  EXPECT_EQ(entry["outcome"], "race");
  EXPECT_EQ(entry["reason"], "torch read what was there before");
  EXPECT_EQ(entry["sync"][0]["waits"], "none");
  EXPECT_FALSE(entry.contains("real_time"));
  EXPECT_FALSE(first().observed.used.empty());
}

TEST_F(Sync, CapturesAddUpAndReplaceTheSameOne) {
  Capture own;
  own.stream = "own";
  own.is_own_call = own.is_one_stream = true;
  own.reason = "the worker ended";
  Capture other = own;
  other.is_one_stream = false;
  other.result = Captured::invalidated;
  other.at = "export";
  other.error = 901;
  other.reason = "cuStreamWaitEvent: 905";
  append_afterwards<CaptureRecord>(folder_.path(), {{cell_, {own}}});
  append_afterwards<CaptureRecord>(folder_.path(), {{cell_, {other}}});
  own.result = Captured::captured;
  own.nodes = 0;
  own.reason.clear();
  append_afterwards<CaptureRecord>(folder_.path(), {{cell_, {own}}});
  append({cell_, {ordering()}, "", "", ""});
  const nlohmann::json expected = nlohmann::json::parse(R"([
    {"stream": "own", "requested_by": "consumer", "producer_stream": "other",
     "result": "invalidated", "at": "export", "error": 901, "reason": "cuStreamWaitEvent: 905"},
    {"stream": "own", "requested_by": "consumer", "producer_stream": "same", "result": "captured",
     "nodes": 0}])");
  EXPECT_EQ(document()["benchmarks"][0]["capture"], expected);
}

TEST_F(Sync, AFailureBecomesAWarning) {
  append({cell_, {}, "", "", "no answer within 30 s"});
  EXPECT_EQ(first().warnings.back().text, "sync: no answer within 30 s");
  EXPECT_TRUE(first().sync.empty());
  EXPECT_EQ(document()["benchmarks"].size(), 1U);
}

TEST_F(Sync, OnlyMeasuredCellsAreLookedAt) {
  expect_not_measured([&] { append({refused_, {ordering()}, "", "", ""}); });
}

TEST_F(Sync, AWordBesideAReasonIsRefused) {
  const auto text_of = [this](const std::string& rest) {
    const std::string one =
        R"({"stream":null,"requested_by":"consumer","reads_on":"own","expected":"order",)" + rest +
        "}";
    const Parsed parsed =
        parse_strict(R"({"cell":")" + cell_ + R"(","sync":[)" + one + "]}", "text");
    return usage_error([&] { sync_record_from(Fields(parsed.value(), "here")); });
  };
  EXPECT_NE(
      text_of(R"("waits":"host","reason":"no","code":"never-busy")").find("here/sync/0/waits"),
      std::string::npos);
  EXPECT_NE(text_of(R"("reason":"no")").find("here/sync/0/code"), std::string::npos);
  EXPECT_NE(text_of(R"("code":"never-busy")").find("here/sync/0/code"), std::string::npos);
  EXPECT_NE(text_of(R"("content":"new")").find("here/sync/0/waits"), std::string::npos);
  EXPECT_NE(text_of(R"("reason":"no","code":"busy")").find("here/sync/0/code"), std::string::npos);
  EXPECT_NE(text_of(R"("waits":"somebody")").find("wrong-stream"), std::string::npos);
}

TEST_F(Sync, AStreamThatNoDeviceHasIsRefused) {
  for (const std::string stream : {"1e300", "-2", "1.5", "[]"}) {
    const Parsed parsed = parse_strict(
        R"({"cell":")" + cell_ + R"(","sync":[{"stream":)" + stream +
            R"(,"requested_by":"consumer","reads_on":"own","expected":"order","waits":"host"}]})",
        "text");
    EXPECT_NE(usage_error([&] {
                sync_record_from(Fields(parsed.value(), "here"));
              }).find("here/sync/0/stream"),
              std::string::npos)
        << stream;
  }
}

}  // namespace
}  // namespace dlbench::results

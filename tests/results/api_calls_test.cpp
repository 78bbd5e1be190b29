#include "recorded_run.hpp"

namespace dlbench::results {
namespace {

using testing::measured;
using testing::read_text;

ApiCalls calls(const std::string& kind, std::uint64_t number) {
  ApiCalls made;
  for (const std::string_view each : kApiKinds) made.calls[std::string(each)] = 0;
  made.phases["import"] = made.phases["export"] = made.calls;
  made.calls[kind] = made.phases["export"][kind] = number;
  return made;
}

class Api : public testing::RecordedRun {
 protected:
  void append(const ApiRecord& record) const {
    append_afterwards<ApiRecord>(folder_.path(), {record});
  }
};

TEST_F(Api, CountsBecomeAKeyOfTheirEntry) {
  append({cell_, calls("sync", 2), ""});
  ASSERT_TRUE(first().api_calls.has_value());
  EXPECT_EQ(first().api_calls->calls.at("sync"), 2U);
  EXPECT_EQ(first().api_calls->phases.at("export").at("sync"), 2U);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
  const nlohmann::json reported = document()["benchmarks"][0]["api_calls"];
  EXPECT_EQ(reported["sync"], 2);
  EXPECT_EQ(reported["memcpy"], 0);
  EXPECT_EQ(reported["phases"]["import"]["sync"], 0);
}

TEST_F(Api, AFailureBecomesAWarningAndALaterCountTakesItsPlace) {
  append({cell_, std::nullopt, "no CUDA driver"});
  EXPECT_FALSE(first().api_calls.has_value());
  EXPECT_EQ(first().warnings.back().text, "API calls: no CUDA driver");
  append({cell_, calls("launch", 1), ""});
  EXPECT_EQ(first().api_calls->calls.at("launch"), 1U);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
}

TEST_F(Api, OnlyMeasuredCellsAreCounted) {
  const std::string before = read_text(journal_);
  expect_not_measured([&] { append({refused_, calls("sync", 1), ""}); });
  EXPECT_EQ(read_text(journal_), before);
}

TEST_F(Api, WhatIsNoCountIsRefusedWhenRead) {
  expect_refused("api", {"", R"(,"api_calls":{})", R"(,"api_calls":{"sync":1})",
                         R"(,"api_calls":"many")", R"(,"failure":"")"});
}

}  // namespace
}  // namespace dlbench::results

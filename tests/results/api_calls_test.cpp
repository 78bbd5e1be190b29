#include "results/api_calls.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/names.hpp"
#include "results/journal.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using testing::header;
using testing::measured;
using testing::read_text;
using testing::refused;
using testing::TemporaryFolder;
using testing::usage_error;

ApiCalls calls(const std::string& kind, std::uint64_t number) {
  ApiCalls made;
  for (const std::string_view each : kApiKinds) made.calls[std::string(each)] = 0;
  made.phases["import"] = made.phases["export"] = made.calls;
  made.calls[kind] = made.phases["export"][kind] = number;
  return made;
}

class Api : public ::testing::Test {
 protected:
  Api() {
    Journal journal = Journal::create(folder_ / "journal.jsonl", header());
    journal.append(measured("numpy", "torch"));
    journal.append(refused("cupy", "numpy"));
  }

  Entry first() const { return read_journal(folder_ / "journal.jsonl").entries.at(0); }
  void append(const ApiRecord& record) const { append_api_calls(folder_.path(), {record}); }

  TemporaryFolder folder_;
  const std::string cell_ = name(measured("numpy", "torch").cell);
  const std::string refused_ = name(refused("cupy", "numpy").cell);
};

TEST_F(Api, CountsBecomeAKeyOfTheirEntry) {
  append({cell_, calls("sync", 2), ""});
  ASSERT_TRUE(first().api_calls.has_value());
  EXPECT_EQ(first().api_calls->calls.at("sync"), 2U);
  EXPECT_EQ(first().api_calls->phases.at("export").at("sync"), 2U);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
  write_document(folder_.path());
  const nlohmann::json document = nlohmann::json::parse(read_text(folder_ / "results.json"));
  const nlohmann::json& told = document["benchmarks"][0]["api_calls"];
  EXPECT_EQ(told["sync"], 2);
  EXPECT_EQ(told["memcpy"], 0);
  EXPECT_EQ(told["phases"]["import"]["sync"], 0);
  validate_document(folder_ / "results.json");
}

TEST_F(Api, AFailureBecomesAWarningAndALaterCountTakesItsPlace) {
  append({cell_, std::nullopt, "no CUDA driver"});
  EXPECT_FALSE(first().api_calls.has_value());
  EXPECT_EQ(first().warnings.back(), "API calls: no CUDA driver");
  append({cell_, calls("launch", 1), ""});
  EXPECT_EQ(first().api_calls->calls.at("launch"), 1U);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
}

TEST_F(Api, OnlyMeasuredCellsAreCounted) {
  const std::string before = read_text(folder_ / "journal.jsonl");
  EXPECT_NE(usage_error([&] {
              append({refused_, calls("sync", 1), ""});
            }).find("was not measured"),
            std::string::npos);
  EXPECT_EQ(read_text(folder_ / "journal.jsonl"), before);
}

TEST_F(Api, WhatIsNoCountIsRefusedWhenRead) {
  const std::string before = read_text(folder_ / "journal.jsonl");
  for (const char* rest : {"", R"(,"api_calls":{})", R"(,"api_calls":{"sync":1})",
                           R"(,"api_calls":"many")", R"(,"failure":"")"}) {
    const std::string line = R"({"api":{"cell":")" + cell_ + "\"" + rest + "}}\n";
    testing::write_text(folder_ / "journal.jsonl", before + line);
    EXPECT_NE(usage_error([&] { first(); }).find("journal.jsonl:4"), std::string::npos) << rest;
  }
}

}  // namespace
}  // namespace dlbench::results

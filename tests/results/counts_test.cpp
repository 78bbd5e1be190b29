#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

class Counts : public ::testing::Test {
 protected:
  Counts() {
    Journal journal = Journal::create(folder_ / "journal.jsonl", header());
    journal.append(measured("numpy", "torch"));
    journal.append(refused("cupy", "numpy"));
  }

  Entry first() const { return read_journal(folder_ / "journal.jsonl").entries.at(0); }
  void append(const CountRecord& count) const { append_counts(folder_.path(), {count}); }

  TemporaryFolder folder_;
  const std::string cell_ = name(measured("numpy", "torch").cell);
  const std::string refused_ = name(refused("cupy", "numpy").cell);
};

TEST_F(Counts, ANumberBecomesAKeyOfItsEntry) {
  EXPECT_FALSE(first().instructions.has_value());
  append({cell_, 2324.5, ""});
  EXPECT_EQ(first().instructions, 2324.5);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
  write_document(folder_.path());
  const nlohmann::json document = nlohmann::json::parse(read_text(folder_ / "results.json"));
  EXPECT_EQ(document["benchmarks"][0]["instructions"], 2324.5);
  validate_document(folder_ / "results.json");
}

TEST_F(Counts, AFailureBecomesAWarningAndNoNumber) {
  append({cell_, std::nullopt, "no answer"});
  EXPECT_FALSE(first().instructions.has_value());
  EXPECT_EQ(first().warnings.back(), "instructions: no answer");
}

TEST_F(Counts, ALaterCountTakesTheEarlierOnesPlace) {
  append({cell_, std::nullopt, "no answer"});
  append({cell_, 10.0, ""});
  EXPECT_EQ(first().instructions, 10.0);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
}

TEST_F(Counts, OnlyMeasuredCellsAreCounted) {
  const std::string before = read_text(folder_ / "journal.jsonl");
  EXPECT_NE(usage_error([&] {
              append({refused_, 1.0, ""});
            }).find("was not measured"),
            std::string::npos);
  EXPECT_NE(usage_error([&] {
              append({"exchange/nobody", 1.0, ""});
            }).find("was not measured"),
            std::string::npos);
  EXPECT_EQ(read_text(folder_ / "journal.jsonl"), before);
}

TEST_F(Counts, ANumberBesideAFailureIsRefusedWhenRead) {
  const std::string before = read_text(folder_ / "journal.jsonl");
  for (const char* rest : {"", R"(,"instructions":1.0,"failure":"both")", R"(,"instructions":0)",
                           R"(,"instructions":-1)", R"(,"instructions":"many")"}) {
    const std::string line = R"({"count":{"cell":")" + cell_ + "\"" + rest + "}}\n";
    testing::write_text(folder_ / "journal.jsonl", before + line);
    EXPECT_NE(usage_error([&] { first(); }).find("journal.jsonl:4"), std::string::npos) << rest;
  }
}

}  // namespace
}  // namespace dlbench::results

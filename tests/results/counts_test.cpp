#include "recorded_run.hpp"

namespace dlbench::results {
namespace {

using testing::measured;
using testing::read_text;

class Counts : public testing::RecordedRun {
 protected:
  void append(const CountRecord& count) const {
    append_afterwards<CountRecord>(folder_.path(), {count});
  }
};

TEST_F(Counts, ANumberBecomesAKeyOfItsEntry) {
  EXPECT_FALSE(first().instructions.has_value());
  append({cell_, 2324.5, ""});
  EXPECT_EQ(first().instructions, 2324.5);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
  EXPECT_EQ(document()["benchmarks"][0]["instructions"], 2324.5);
}

TEST_F(Counts, AFailureBecomesAWarningAndNoNumber) {
  append({cell_, std::nullopt, "no answer"});
  EXPECT_FALSE(first().instructions.has_value());
  EXPECT_EQ(first().warnings.back().text, "instructions: no answer");
}

TEST_F(Counts, ALaterCountTakesTheEarlierOnesPlace) {
  append({cell_, std::nullopt, "no answer"});
  append({cell_, 10.0, ""});
  EXPECT_EQ(first().instructions, 10.0);
  EXPECT_EQ(first().warnings, measured("numpy", "torch").warnings);
}

TEST_F(Counts, OnlyMeasuredCellsAreCounted) {
  const std::string before = read_text(journal_);
  expect_not_measured([&] { append({refused_, 1.0, ""}); });
  expect_not_measured([&] { append({"exchange/nobody", 1.0, ""}); });
  EXPECT_EQ(read_text(journal_), before);
}

TEST_F(Counts, ANumberBesideAFailureIsRefusedWhenRead) {
  expect_refused("count", {"", R"(,"instructions":1.0,"failure":"both")", R"(,"instructions":0)",
                           R"(,"instructions":-1)", R"(,"instructions":"many")"});
}

}  // namespace
}  // namespace dlbench::results

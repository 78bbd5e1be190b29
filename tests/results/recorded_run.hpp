#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "model/names.hpp"
#include "results/journal.hpp"
#include "sample.hpp"

namespace dlbench::results::testing {

/// A run with a cell that was measured and one that was refused, of which something is written down
/// afterwards.
class RecordedRun : public ::testing::Test {
 protected:
  RecordedRun() {
    Journal journal = Journal::create(journal_, header());
    journal.append(measured("numpy", "torch"));
    journal.append(refused("cupy", "numpy"));
  }

  /// The measured one, as the journal has it.
  Entry first() const { return read_journal(journal_).entries.at(0); }

  /// The whole run, written and validated.
  nlohmann::json document() const {
    write_document(folder_.path());
    validate_document(folder_ / "results.json");
    return nlohmann::json::parse(read_text(folder_ / "results.json"));
  }

  template <typename Call>
  static void expect_not_measured(Call&& append) {
    EXPECT_NE(usage_error(append).find("was not measured"), std::string::npos);
  }

  /// Each of them, behind the measured cell's name in a line of that key, is dropped by its number.
  void expect_refused(const std::string& key, std::initializer_list<const char*> rests) const {
    const std::string before = read_text(journal_);
    for (const char* rest : rests) {
      write_text(journal_, before + "{\"" + key + R"(":{"cell":")" + cell_ + "\"" + rest + "}}\n");
      const JournalContents contents = read_journal(journal_);
      EXPECT_EQ(contents.dropped_lines, 1U) << rest;
      EXPECT_EQ(contents.first_dropped.rfind("line 4: ", 0), 0U) << rest;
    }
  }

  const TemporaryFolder folder_;
  const std::filesystem::path journal_ = folder_ / "journal.jsonl";
  const std::string cell_ = name(measured("numpy", "torch").cell);
  const std::string refused_ = name(refused("cupy", "numpy").cell);
};

}  // namespace dlbench::results::testing

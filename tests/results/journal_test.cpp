#include "results/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "results/document.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using testing::FileSizeLimit;
using testing::header;
using testing::measured;
using testing::read_text;
using testing::refused;
using testing::TemporaryFolder;
using testing::usage_error;
using testing::worker;
using testing::write_text;

std::string small_journal(const std::filesystem::path& path) {
  Journal journal = Journal::create(path, header());
  journal.append(worker(60));
  journal.append(measured("numpy", "torch"));
  journal.append(refused("cupy", "numpy"));
  journal.append(EndRecord{61.5, 40.25, 2});
  return read_text(path);
}

TEST(Journal, WhatWasAppendedIsRead) {
  const TemporaryFolder folder;
  const std::string text = small_journal(folder / "journal.jsonl");
  EXPECT_EQ(text.rfind("{\"dlbench_journal\":1,\"fingerprint\":\"0123456789abcdef\",", 0), 0U);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);

  const JournalContents contents = read_journal(folder / "journal.jsonl");
  EXPECT_EQ(contents.header.fingerprint, header().fingerprint);
  EXPECT_EQ(contents.header.context, header().context);
  ASSERT_EQ(contents.entries.size(), 2U);
  EXPECT_EQ(contents.entries[0].median_ns, 1000);
  EXPECT_EQ(contents.entries[1].exception, "BufferError");
  ASSERT_EQ(contents.workers.size(), 1U);
  EXPECT_EQ(contents.workers[0].imports, (std::vector<std::string>{"numpy", "torch"}));
  EXPECT_EQ(contents.workers[0].reference_ns, 60);
  EXPECT_EQ(contents.workers[0].floors_ns.at("call"), 20);
  EXPECT_EQ(contents.workers[0].copy_floors_bytes, worker(60).copy_floors_bytes);
  EXPECT_EQ(contents.workers[0].context_flags, worker(60).context_flags);
  EXPECT_EQ(contents.workers[0].libraries.at("numpy"), "2.4.6");
  ASSERT_EQ(contents.ends.size(), 1U);
  EXPECT_EQ(contents.ends[0].wall_s, 61.5);
  EXPECT_EQ(contents.ends[0].signal, 2);
  EXPECT_EQ(contents.whole_bytes, text.size());
}

TEST(Journal, ANewRunRefusesAFolderThatHoldsAnother) {
  const TemporaryFolder folder;
  const std::string before = small_journal(folder / "journal.jsonl");
  const std::string text =
      usage_error([&] { Journal::create(folder / "journal.jsonl", header()); });
  EXPECT_NE(text.find("exists"), npos);
  EXPECT_EQ(read_text(folder / "journal.jsonl"), before);
  EXPECT_NE(usage_error([&] {
              Journal::create(folder / "no/journal.jsonl", header());
            }).find("No such file"),
            npos);
}

TEST(Journal, CutAtAnyByteItGoesOnWithWhatWasWhole) {
  const TemporaryFolder folder;
  const std::string text = small_journal(folder / "whole");
  const std::filesystem::path path = folder / "journal.jsonl";
  for (std::size_t length = 0; length < text.size(); length += 3) {
    write_text(path, text.substr(0, length));
    const std::size_t newline = length == 0 ? npos : text.rfind('\n', length - 1);
    const std::size_t whole = newline == npos ? 0 : newline + 1;
    ASSERT_EQ(read_journal(path).whole_bytes, whole) << length;
    JournalContents contents;
    Journal::resume(path, header(), &contents).append(EndRecord{1, 1, 0});
    const std::string now = read_text(path);
    ASSERT_EQ(now.substr(0, whole), text.substr(0, whole)) << length;
    const JournalContents again = read_journal(path);
    ASSERT_EQ(again.entries.size(), contents.entries.size()) << length;
    ASSERT_EQ(again.ends.size(), contents.ends.size() + 1) << length;
    ASSERT_EQ(again.header.fingerprint, header().fingerprint) << length;
  }
}

TEST(Journal, ASessionMayEndTwiceAndItsSecondsAddUp) {
  const TemporaryFolder folder;
  small_journal(folder / "journal.jsonl");
  const std::size_t before = read_journal(folder / "journal.jsonl").ends.size();
  append_behind(folder / "", {}, {line_of(EndRecord{12.5, 0, SIGINT})});
  const JournalContents contents = read_journal(folder / "journal.jsonl");
  ASSERT_EQ(contents.ends.size(), before + 1);
  EXPECT_EQ(contents.ends.back().wall_s, 12.5);
  EXPECT_EQ(contents.ends.back().signal, SIGINT);
}

TEST(Journal, SettledCellsAreAllThatNeedNotBeMeasuredAgain) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  Entry not_run = refused("jax", "numpy");
  not_run.outcome = Outcome::not_run;
  not_run.code = "interrupted";
  {
    Journal journal = Journal::create(path, header());
    journal.append(measured("numpy", "torch"));
    journal.append(refused("cupy", "numpy"));
    journal.append(not_run);
  }
  const auto names = recorded_names(read_journal(path));
  EXPECT_EQ(names.size(), 2U);
  EXPECT_TRUE(names.contains(name(measured("numpy", "torch").cell)));
  EXPECT_TRUE(names.contains(name(refused("cupy", "numpy").cell)));

  Journal::resume(path, header()).append(measured("jax", "numpy", 55));
  const JournalContents contents = read_journal(path);
  ASSERT_EQ(contents.entries.size(), 3U);
  EXPECT_EQ(contents.entries[2].median_ns, 55);
}

TEST(Journal, ACellSettledTwiceKeepsItsFirstLine) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  {
    Journal journal = Journal::create(path, header());
    journal.append(measured("numpy", "torch"));
    journal.append(worker(60));
    journal.append(measured("numpy", "torch", 55));
  }
  const JournalContents contents = read_journal(path);
  ASSERT_EQ(contents.entries.size(), 1U);
  EXPECT_EQ(contents.entries[0].median_ns, 1000);
  EXPECT_EQ(contents.dropped_lines, 1U);
  const std::string& text = contents.first_dropped;
  EXPECT_EQ(text.rfind("line 4: exchange/producer:numpy", 0), 0U) << text;
  EXPECT_NE(text.find("line 2"), npos) << text;
}

TEST(Journal, ABrokenLineCostsItselfAlone) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  const std::string good = small_journal(folder / "good");
  const auto why = [&](const std::string& text, std::size_t entries) {
    write_text(path, text);
    const JournalContents contents = read_journal(path);
    EXPECT_EQ(contents.dropped_lines, 1U);
    EXPECT_EQ(contents.entries.size(), entries);
    EXPECT_EQ(contents.workers.size(), 1U);
    EXPECT_EQ(contents.ends.size(), 1U);
    EXPECT_EQ(contents.whole_bytes, text.size());
    return contents.first_dropped;
  };
  const std::size_t second = good.find('\n') + 1;
  std::string text = good;
  text.insert(second, "{\"entry\":{\"name\":\n");
  EXPECT_EQ(why(text, 2).rfind("line 2: /entry/name: invalid JSON at byte", 0), 0U);
  for (const std::string line : {"", "\xff\xfe", "7", "[]", "{\"other\":1}", "{\"entry\":[]}"}) {
    text = good;
    EXPECT_EQ(why(text.insert(second, line + "\n"), 2).rfind("line 2: ", 0), 0U) << line;
  }
  text = good;
  text.replace(text.find("\"real_time\":1000.0"), 18, "\"real_time\":null");
  EXPECT_EQ(why(text, 1).rfind("line 3: /entry/real_time: expected a number", 0), 0U);

  // Its cell is not recorded: a resumed run measures it, and the document says what was lost.
  write_text(path, text);
  Journal::resume(path, header()).append(measured("numpy", "torch", 55));
  write_document(folder.path());
  const auto document = nlohmann::json::parse(read_text(folder / "results.json"));
  EXPECT_EQ(document["benchmarks"].size(), 1U);
  EXPECT_EQ(document["context"]["dlbench"]["dropped"]["lines"], 1);
  EXPECT_EQ(usage_error([&] { validate_document(folder / "results.json"); }), "");
}

/// Otherwise the document that is written could not be read.
TEST(Journal, AFactThatNoDocumentMayHaveCostsItsWorker) {
  const TemporaryFolder folder;
  OrderedJson negative = line_of(worker(60)), odd = negative;
  negative["worker"]["import_seconds"]["numpy"] = -1;
  odd["worker"]["import_effects"]["numpy"]["weather"] = {"rain"};
  for (const OrderedJson& bad : {negative, odd}) {
    {
      Journal journal = Journal::create(folder / "journal.jsonl", header());
      journal.append(bad);
      journal.append(worker(60));
      journal.append(measured("numpy", "torch"));
    }
    const JournalContents contents = read_journal(folder / "journal.jsonl");
    EXPECT_EQ(contents.workers.size(), 1U);
    EXPECT_EQ(contents.first_dropped.rfind("line 2: /worker/import_", 0), 0U)
        << contents.first_dropped;
    write_document(folder.path());
    EXPECT_EQ(usage_error([&] { validate_document(folder / "results.json"); }), "");
    std::filesystem::remove(folder / "journal.jsonl");
  }
}

TEST(Journal, ABrokenHeaderIsRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  const auto error_of = [&](const std::string& text) {
    write_text(path, text);
    return usage_error([&] { read_journal(path); });
  };
  EXPECT_NE(error_of("{\"a\":1}\n").find("journal.jsonl:1: /dlbench_journal"), npos);
  EXPECT_NE(
      error_of("{\"dlbench_journal\":1,\"fingerprint\":\"\",\"context\":{\"dlbench\":{\"request\":"
               "{\"sizes\":[1]}}}}\n")
          .find("journal.jsonl:1: /context/dlbench/request/sizes/0"),
      npos);
  EXPECT_NE(error_of("a text").find("not a dlbench journal"), npos);
  EXPECT_NE(error_of("{\"dlbench_journal\":2,\"fingerprint\":\"\",\"context\":{}}\n").find("newer"),
            npos);
}

TEST(Journal, AForeignFileIsLeftAlone) {
  const TemporaryFolder folder;
  write_text(folder / "journal.jsonl", "my diary");
  EXPECT_NE(usage_error([&] { Journal::resume(folder / "journal.jsonl", header()); }), "");
  EXPECT_EQ(read_text(folder / "journal.jsonl"), "my diary");
}

TEST(Journal, ResumingNamesWhatChanged) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  const std::string before = small_journal(path);
  const auto error_of = [&](const char* pointer, const nlohmann::json& value) {
    Header now = header();
    now.context[nlohmann::json::json_pointer(pointer)] = value;
    return usage_error([&] { Journal::resume(path, now); });
  };
  EXPECT_NE(error_of("/dlbench/environments/default/libraries/numpy", "2.5.0")
                .find("numpy in default was 2.4.6, is 2.5.0"),
            npos);
  EXPECT_NE(error_of("/dlbench/environments/default/libraries/jax", "0.10")
                .find("jax in default was nothing, is 0.10"),
            npos);
  EXPECT_NE(error_of("/dlbench/environments/default/python", "3.12.0").find("3.12.0"), npos);
  EXPECT_NE(error_of("/dlbench/machine/cpu", "Another").find("cpu was A CPU, is Another"), npos);
  EXPECT_NE(error_of("/host_name", "there").find("host_name was here, is there"), npos);
  EXPECT_NE(error_of("/dlbench/version", "0.2.0").find("version was 0.1.0"), npos);
  EXPECT_EQ(error_of("/date", "2027-01-01"), "");

  Header now = header();
  now.fingerprint = "another";
  EXPECT_NE(usage_error([&] { Journal::resume(path, now); }).find("the plan changed"), npos);
  EXPECT_EQ(read_text(path), before);
}

TEST(Journal, OneProcessAtATime) {
  const TemporaryFolder folder;
  const Journal journal = Journal::create(folder / "journal.jsonl", header());
  EXPECT_NE(usage_error([&] {
              Journal::resume(folder / "journal.jsonl", header());
            }).find("another run is writing"),
            npos);
}

TEST(Journal, ADiskThatFillsUpLeavesWholeLines) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  Journal journal = Journal::create(path, header());
  journal.append(measured("numpy", "torch"));
  const std::string before = read_text(path);
  {
    const FileSizeLimit limit(before.size() + 100);
    try {
      journal.append(measured("torch", "numpy"));
      FAIL() << "a full disk went unnoticed";
    } catch (const DiskError& error) {
      EXPECT_NE(std::string(error.what()).find(path.string() + ": File too large"), npos)
          << error.what();
    }
  }
  EXPECT_EQ(read_text(path), before);
  journal.append(measured("torch", "numpy"));
  EXPECT_EQ(read_journal(path).entries.size(), 2U);
}

TEST(Journal, AHeaderThatTheDiskDoesNotTakeLeavesNoFile) {
  const TemporaryFolder folder;
  {
    const FileSizeLimit limit(20);
    EXPECT_THROW(Journal::create(folder / "journal.jsonl", header()), DiskError);
  }
  EXPECT_EQ(testing::files_in(folder.path()), 0U);
}

TEST(Journal, HasItsHeaderAsSoonAsItHasItsName) {
  const TemporaryFolder folder;
  constexpr std::size_t kJournals = 300;
  const auto path = [&](std::size_t i) { return folder.path() / (std::to_string(i) + ".jsonl"); };
  std::size_t without = 0;
  std::thread reader([&] {
    for (std::size_t i = 0; i < kJournals; ++i) {
      while (!std::filesystem::exists(path(i))) {
      }
      without += read_text(path(i)).ends_with('\n') ? 0 : 1;
    }
  });
  for (std::size_t i = 0; i < kJournals; ++i) Journal::create(path(i), header());
  reader.join();
  EXPECT_EQ(without, 0U);
  EXPECT_EQ(testing::files_in(folder.path()), kJournals);
}

TEST(Journal, WhatCannotBeReadBackIsNotWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "journal.jsonl";
  Journal journal = Journal::create(path, header());
  const std::string before = read_text(path);
  Entry entry = measured("numpy", "torch");
  entry.hi_ns = std::numeric_limits<double>::infinity();
  EXPECT_NE(usage_error([&] { journal.append(entry); }).find("/entry/hi_ns"), npos);
  EXPECT_EQ(read_text(path), before);

  Entry crashed = refused("cupy", "numpy");
  crashed.stderr_tail = "\xff\xfe not UTF-8\n";
  journal.append(crashed);
  EXPECT_NE(read_journal(path).entries.at(0).stderr_tail.find("not UTF-8\n"), npos);
}

}  // namespace
}  // namespace dlbench::results

#include "results/blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/strict_json.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;
using testing::TemporaryFolder;
using testing::usage_error;
using testing::write_text;

constexpr std::uintmax_t kMost = 1 << 30;
constexpr std::array<std::string_view, 1> kLists{"rows"};

/// Rows of about 300 bytes, 900 kB of them: more than one block.
json rows(std::size_t count) {
  json made = json::array();
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(
        {{"number", i}, {"text", std::string(250, 'a') + std::to_string(i) + "\n\"\u00e9"}});
  }
  return made;
}

std::string lines_of(const json& items) {
  std::string text = "{\"head\": {\"kept\": \"to the end\"}, \"rows\": [\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : ",\n") + items[i].dump();
  }
  return text + "],\n\"tail\": [\"x\", 1]}";
}

class BlocksOfAFile : public ::testing::Test {
 protected:
  json read(const std::string& text) {
    write_text(path_, text);
    json seen = json::array();
    const OnItem take = [&](std::string_view, std::size_t index, const Value& item) {
      EXPECT_EQ(index, seen.size());
      seen.push_back(item.json());
    };
    Blocks blocks(path_, kMost);
    const Parsed parsed = parse_strict(blocks, "file", kLists, take);
    rest_ = parsed.value().json();
    return seen;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "text.json";
  json rest_;
};

TEST_F(BlocksOfAFile, ItemsAreTheSameInManyBlocksAndInOne) {
  const json all = rows(3000);
  const json rest = {
      {"head", {{"kept", "to the end"}}}, {"rows", json::array()}, {"tail", {"x", 1}}};
  EXPECT_EQ(read(lines_of(all)), all);
  EXPECT_EQ(rest_, rest);
  const json whole = {{"head", {{"kept", "to the end"}}}, {"rows", all}, {"tail", {"x", 1}}};
  EXPECT_EQ(read(whole.dump()), all);  // one line
  EXPECT_EQ(rest_, rest);
  EXPECT_EQ(read(whole.dump(1) + "\n\n"), all);
  EXPECT_EQ(rest_, rest);
}

TEST_F(BlocksOfAFile, AFaultInALaterBlockIsNamedByItsPlace) {
  const std::string good = lines_of(rows(3000));
  const std::size_t at = good.find("\"number\":2500");
  const auto complaint = [&](std::string_view instead) {
    std::string text = good;
    text.replace(at, instead.size(), instead);
    return usage_error([&] { read(text); });
  };
  EXPECT_EQ(complaint("\"number\":x"), "file: /rows/2500/number: broken at byte " +
                                           std::to_string(at + 9) + ": Invalid value.");
  EXPECT_NE(complaint("\"num\xff").find("/rows/2500"), std::string::npos);
  EXPECT_NE(complaint("\"num\nx").find("/rows/2500"), std::string::npos);
  EXPECT_NE(complaint(std::string_view("\0", 1)).find("/rows/2500"), std::string::npos);
  EXPECT_NE(usage_error([&] { read(good.substr(0, at)); }).find("/rows/2500"), std::string::npos);
  EXPECT_NE(usage_error([&] { read(good + "\n7"); }).find(": broken at byte"), std::string::npos);
}

TEST_F(BlocksOfAFile, WhatIsNoFileOrTooLargeIsRefused) {
  EXPECT_NE(usage_error([&] { Blocks(folder_ / "none", kMost); }).find("cannot read"),
            std::string::npos);
  write_text(path_, "[1, 2]");
  EXPECT_NE(usage_error([&] { Blocks(path_, 5); }).find("larger than 5 bytes"), std::string::npos);
}

}  // namespace
}  // namespace dlbench::results

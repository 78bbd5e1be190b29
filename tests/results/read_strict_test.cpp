#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/schema/strict_json.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;
using testing::TemporaryFolder;
using testing::usage_error;
using testing::write_text;

constexpr std::uintmax_t kMost = 1 << 30;
constexpr std::array<std::string_view, 1> kLists{"rows"};

/// Rows of about 300 bytes: 3,000 of them are many blocks of the reader.
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

class ReadStrict : public ::testing::Test {
 protected:
  json read(const std::string& text) {
    write_text(path_, text);
    json observed = json::array();
    const OnItem take = [&](std::string_view, std::size_t index, const Value& item) {
      EXPECT_EQ(index, observed.size());
      observed.push_back(item.json());
    };
    const Parsed parsed = read_strict(path_, kMost, kLists, take);
    rest_ = parsed.value().json();
    return observed;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "text.json";
  json rest_;
};

TEST_F(ReadStrict, ItemsAreTheSameInManyBlocksAndInOne) {
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

TEST_F(ReadStrict, AFaultInALaterBlockIsNamedByItsPlace) {
  const std::string good = lines_of(rows(3000));
  const std::size_t at = good.find("\"number\":2500");
  const auto error_of = [&](std::string_view instead) {
    std::string text = good;
    text.replace(at, instead.size(), instead);
    return usage_error([&] { read(text); });
  };
  const std::string line = std::to_string(
      std::count(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
  EXPECT_EQ(error_of("\"number\":x"),
            path_.string() + ": /rows/2500/number: invalid JSON at byte " + std::to_string(at + 9) +
                ": line " + line +
                ", column 11: syntax error while parsing value - invalid literal");
  EXPECT_NE(error_of("\"num\xff").find("/rows/2500"), std::string::npos);
  EXPECT_NE(error_of("\"num\nx").find("/rows/2500"), std::string::npos);
  EXPECT_NE(error_of(std::string_view("\0", 1)).find("/rows/2500"), std::string::npos);
  EXPECT_NE(usage_error([&] { read(good.substr(0, at)); }).find("/rows/2500"), std::string::npos);
  EXPECT_NE(usage_error([&] { read(good + "\n7"); }).find(": invalid JSON at byte"),
            std::string::npos);
}

TEST_F(ReadStrict, PassesOnTheItemsOfTheListsAlone) {
  EXPECT_EQ(read(R"({"head": [1], "rows": [{"a": [1, 2]}, 3, [], "x"], "tail": {"rows": [7]}})"),
            json::parse(R"([{"a": [1, 2]}, 3, [], "x"])"));
  EXPECT_EQ(rest_, json::parse(R"({"head": [1], "rows": [], "tail": {"rows": [7]}})"));
  const std::string broken = usage_error([&] { read(R"({"rows": [1, {"a": [2, x]}]})"); });
  EXPECT_EQ(broken.find(path_.string() + ": /rows/1/a/1: invalid JSON at byte"), 0U) << broken;
}

TEST_F(ReadStrict, WhatIsNoFileOrEmptyOrTooLargeIsRefused) {
  const auto error_of = [&](const std::filesystem::path& path) {
    return usage_error([&] { read_strict(path, 5, kLists, [](auto&&...) {}); });
  };
  EXPECT_NE(error_of(folder_ / "none").find("cannot read"), std::string::npos);
  write_text(path_, "[1, 2]");
  EXPECT_NE(error_of(path_).find("larger than 5 bytes"), std::string::npos);
  write_text(path_, "");
  EXPECT_EQ(error_of(path_), path_.string() + ": the file is empty");
}

}  // namespace
}  // namespace dlbench::results

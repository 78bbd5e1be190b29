#include <gtest/gtest.h>

#include "results/document.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;
using testing::read_text;
using testing::TemporaryFolder;
using testing::usage_error;
using testing::write_text;

constexpr auto npos = std::string::npos;

class Validate : public ::testing::Test {
 protected:
  Validate() {
    write_document(testing::run(), path_);
    good_ = read_text(path_);
  }

  std::string error_of(std::string_view text) {
    write_text(path_, text);
    return usage_error([&] { validate_document(path_); });
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "results.json";
  std::string good_;
};

/// The faults that schema.json must find as well; the Python tests read the same file.
TEST_F(Validate, EveryPlantedFaultIsFoundAtItsPlace) {
  const std::filesystem::path faults =
      std::filesystem::path(__FILE__).parent_path() / "faults.json";
  const json all = json::parse(read_text(faults));
  ASSERT_GT(all.size(), 40U);
  for (const json& fault : all) {
    json document = json::parse(good_);
    const std::string text = fault["pointer"];
    const json::json_pointer pointer(text);
    if (fault.contains("value"))
      document[pointer] = fault["value"];
    else
      document[pointer.parent_pointer()].erase(pointer.back());
    const std::string message = error_of(document.dump());
    EXPECT_EQ(message.rfind(path_.string() + ": " + text, 0), 0U) << fault << "\n" << message;
  }
}

TEST_F(Validate, ChecksAreLookedAtWhereThereAreAny) {
  const json good = {
      {"library", "numpy"},     {"version", "2.4"},       {"rule", "export.copy-true"},
      {"role", "producer"},     {"level", "must"},        {"section", "array API"},
      {"outcome", "broken"},    {"observed", "the same"}, {"accepted", false},
      {"reproducer", "print()"}};
  const auto message = [&](const json& checks) {
    json document = json::parse(good_);
    document["checks"] = checks;
    return error_of(document.dump());
  };
  EXPECT_EQ(message(json::array({good})), "");
  EXPECT_NE(message(json::array({good, good})).find("/checks/1/rule"), npos);
  EXPECT_NE(message(json::object()).find("/checks"), npos);
  for (const auto& [key, value] : good.items()) {
    json without = good;
    without.erase(key);
    if (key != "accepted") {
      EXPECT_NE(message(json::array({without})).find("/checks/0/" + key), npos) << key;
    }
    json other = good;
    other[key] = 3;
    EXPECT_NE(message(json::array({other})).find("/checks/0/" + key), npos) << key;
  }
  json kept = good;
  kept["outcome"] = "holds";
  kept.erase("reproducer");
  EXPECT_EQ(message(json::array({kept})), "");
}

TEST_F(Validate, NewKeysAreAllowedEverywhere) {
  json document = json::parse(good_);
  for (const char* pointer : {"/new", "/context/new", "/context/dlbench/new", "/benchmarks/0/new",
                              "/benchmarks/0/observed/new", "/not_measured/0/new",
                              "/context/dlbench/environments/default/copy_floors_gb_per_s"}) {
    document[json::json_pointer(pointer)] = {{"any", 1}};
  }
  EXPECT_EQ(error_of(document.dump()), "");
}

TEST_F(Validate, EveryTruncationIsFound) {
  for (std::size_t length = 0; length + 2 < good_.size(); length += 13) {
    ASSERT_NE(error_of(std::string_view(good_).substr(0, length)), "") << length;
  }
  const std::size_t middle = good_.find("\"cpu_time\":");
  EXPECT_NE(error_of(std::string_view(good_).substr(0, middle + 11)).find("/benchmarks/0/cpu_time"),
            npos);
  EXPECT_NE(error_of("").find("empty"), npos);
}

TEST_F(Validate, WhatIsNoJsonNumberIsFound) {
  const std::size_t at = good_.find("\"lo_ns\":") + 8;
  const std::size_t length = good_.find(',', at) - at;
  for (const char* number : {"NaN", "Infinity", "-Infinity", "1e999", "0x10"}) {
    std::string text = good_;
    text.replace(at, length, number);
    EXPECT_NE(error_of(text).find("/benchmarks/0/lo_ns: invalid JSON at byte"), npos) << number;
  }
}

TEST_F(Validate, HalfAPairOfSurrogatesIsFound) {
  const std::size_t at = good_.find("\"reason\":\"") + 10;
  for (const char* half : {"\\udce9", "\\ud83d", "\\ud83dx", "\\ude00\\ud83d"}) {
    std::string text = good_;
    EXPECT_NE(error_of(text.insert(at, half)).find("/not_measured/0/reason: invalid JSON at byte"),
              npos)
        << half;
  }
  std::string text = good_;
  EXPECT_EQ(error_of(text.insert(at, "\\ud83d\\ude00 \\u00e9")), "");
}

TEST_F(Validate, AKeyGivenTwiceIsFound) {
  std::string text = good_;
  text.insert(text.find("\"hi_ns\":"), "\"lo_ns\":1.0,");
  EXPECT_NE(error_of(text).find("/benchmarks/0/lo_ns: duplicate key"), npos);
}

TEST_F(Validate, ACellThatOccursTwiceIsFound) {
  json document = json::parse(good_);
  document["benchmarks"].push_back(document["benchmarks"][0]);
  EXPECT_NE(error_of(document.dump()).find("/benchmarks/2/name"), npos);
}

TEST_F(Validate, AbsurdNestingIsRefusedBeforeItIsBuilt) {
  const std::string deep = "{\"context\":" + std::string(1'000'000, '[');
  EXPECT_NE(error_of(deep).find("nested deeper than 64"), npos);
}

TEST_F(Validate, AForeignDocumentIsNamedSo) {
  EXPECT_NE(error_of("[1, 2]").find("expected an object"), npos);
  EXPECT_NE(error_of("{\"context\":{\"date\":\"\"},\"benchmarks\":[]}")
                .find("not a dlbench results document"),
            npos);
  EXPECT_NE(error_of(good_ + "{}").find("invalid JSON at byte"), npos);
  EXPECT_NE(usage_error([&] { validate_document(folder_.path()); }).find("not a regular file"),
            npos);
  EXPECT_NE(usage_error([&] { validate_document(folder_ / "none.json"); }).find("No such file"),
            npos);
}

TEST_F(Validate, AFaultIsOneLineWhateverTheKeys) {
  const std::string text = error_of(R"({"a\nb": {"c\td": [}})");
  EXPECT_NE(text.find("/a?b/c?d/0"), npos) << text;
  EXPECT_EQ(text.find('\n'), npos);
}

TEST_F(Validate, AnEntryOfAnotherMachineSaysSoInItsName) {
  json document = json::parse(good_);
  const std::string other = document["benchmarks"][0]["name"].get<std::string>() + "/machine:epyc";
  document["benchmarks"][0]["name"] = other;
  document["benchmarks"][0]["run_name"] = other;
  EXPECT_NE(error_of(document.dump()).find("/benchmarks/0/name"), npos);
  document["benchmarks"][0]["machine"] = "epyc";
  EXPECT_NE(error_of(document.dump()).find("/benchmarks/0/machine"), npos);
  document["context"]["dlbench"]["machines"] = {{"epyc", {{"machine", 1}}}};
  EXPECT_NE(error_of(document.dump()).find("/context/dlbench/machines/epyc/schema"), npos);

  json own = document["context"]["dlbench"];
  own.erase("machines");
  own["context"] = document["context"];
  own["context"].erase("dlbench");
  document["context"]["dlbench"]["machines"] = {{"epyc", own}};
  EXPECT_NE(error_of(document.dump()).find("/benchmarks/1/machine"), npos);
  document["benchmarks"].erase(1);
  document["not_measured"] = json::array();
  EXPECT_EQ(error_of(document.dump()), "");
  for (const char* machine : {"", "..", "../there", "/tmp/there", "a b"}) {
    json named = document;
    named["context"]["dlbench"]["machines"][machine] = own;
    EXPECT_NE(error_of(named.dump()).find("/context/dlbench/machines/"), npos) << machine;
  }
}

}  // namespace
}  // namespace dlbench::results

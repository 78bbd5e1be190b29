#include "results/schema/strict_json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sample.hpp"

namespace dlbench::results {
namespace {

using testing::usage_error;

std::string error_of(const std::string& text) {
  return usage_error([&] { parse_strict(text, "file"); });
}

TEST(StrictJson, ReadsEveryKindOfValue) {
  const std::string text = R"({"a": [null, true, 1, -2, 1.5, "x\u00e9\n/"], "b": {}, "c": []})";
  const Parsed parsed = parse_strict(text, "file");
  EXPECT_EQ(parsed.value().json(), nlohmann::json::parse(text));
  const Value* list = parsed.value().find("a");
  ASSERT_NE(list, nullptr);
  const auto items = list->items();
  EXPECT_TRUE(items[0].is_null());
  EXPECT_TRUE(items[1].is_flag() && items[1].flag());
  EXPECT_TRUE(items[2].is_count() && items[2].count() == 1);
  EXPECT_TRUE(items[3].is_number() && !items[3].is_count() && items[3].number() == -2);
  EXPECT_EQ(items[4].number(), 1.5);
  EXPECT_EQ(items[5].text(), "x\u00e9\n/");
  EXPECT_EQ(parsed.value().find("d"), nullptr);
}

TEST(StrictJson, NumbersAreExact) {
  const auto number = [](const std::string& text) {
    return parse_strict(text, "file").value().number();
  };
  for (const double each : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456.78901234567}) {
    EXPECT_EQ(number(nlohmann::json(each).dump()), each);
  }
  const Parsed most = parse_strict("18446744073709551615", "file");
  EXPECT_EQ(most.value().count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(number("18446744073709551616"), 18446744073709551616.0);
  EXPECT_EQ(number("-9223372036854775808"), -9223372036854775808.0);
}

TEST(StrictJson, NumbersAtTheEnds) {
  const std::string zero =
      "[0." + std::string(400, '0') + "e2, -0.0, 1e-400, 18446744073709551616]";
  EXPECT_EQ(parse_strict(zero, "file").value().json(),
            nlohmann::json::parse("[0.0, -0.0, 0.0, 18446744073709551616.0]"));
  for (const std::string big : {"1e999", "-1e999"}) {
    EXPECT_EQ(error_of("[" + big + "]"), "file: /0: invalid JSON at byte " +
                                             std::to_string(big.size()) +
                                             ": a number beyond the range of a double");
  }
  EXPECT_NE(error_of("[" + std::string(400, '9') + "]").find("/0: invalid JSON"),
            std::string::npos);
}

TEST(StrictJson, SaysWhereAndWhy) {
  EXPECT_EQ(error_of("{\"a\": {\"b\": 1, \"b\": 2}}"), "file: /a/b: duplicate key");
  EXPECT_EQ(
      error_of("{\"a\": [1,\n2, nul]}"),
      "file: /a/2: invalid JSON at byte 16: line 2, column 7: syntax error while parsing value - "
      "invalid literal");
  EXPECT_EQ(error_of("[1, 2").find("file: /2: invalid JSON at byte "), 0U);
  EXPECT_EQ(error_of("").find("file: /: invalid JSON at byte 0"), 0U);
  for (const char* text : {"[1e999]", "[NaN]", "[01]", "[1.]", "['a']", "[1,]", "[\"\\ud800\"]",
                           "[\"a\nb\"]", "[\"\xff\"]", "[\"\xc0\xaf\"]", "[1] 2", "/**/[1]"}) {
    EXPECT_NE(error_of(text).find("invalid JSON at byte"), std::string::npos) << text;
  }
  for (const std::size_t size : {4, 5}) {
    EXPECT_NE(error_of(std::string("[1]\0]", size)).find("invalid JSON at byte 3"),
              std::string::npos);
  }
  EXPECT_EQ(error_of("\xef\xbb\xbf[]"), "file: /: invalid JSON at byte 0: a byte order mark");
  EXPECT_NE(error_of(std::string("[\"a\0b\"]", 7)).find("invalid JSON at byte"), std::string::npos);
}

TEST(StrictJson, AKeyGivenTwiceIsFoundAmongManyToo) {
  std::string text = "{";
  for (int i = 0; i < 300; ++i) text += "\"k" + std::to_string(i) + "\": 1, ";
  EXPECT_EQ(error_of(text + "\"k\": 1}"), "");
  for (const char* twice : {"k0", "k63", "k64", "k299"}) {
    EXPECT_NE(error_of(text + "\"" + twice + "\": 1}").find("duplicate key"), std::string::npos)
        << twice;
  }
  EXPECT_NE(error_of("{\"a\": 1, \"\\u0061\": 1}"), "");
}

TEST(StrictJson, NestsAsDeepAsItMay) {
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_NE(error_of(std::string(65, '[') + std::string(65, ']')).find("deeper than 64"),
            std::string::npos);
}

}  // namespace
}  // namespace dlbench::results

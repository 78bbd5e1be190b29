#include "model/units.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

#include "model/error.hpp"

namespace {

using namespace dlbench;

TEST(ParseBytes, KnowsItsUnits) {
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("1B"), 1U);
  EXPECT_EQ(parse_bytes("64kB"), 64'000U);
  EXPECT_EQ(parse_bytes("4KiB"), 4096U);
  EXPECT_EQ(parse_bytes("4 KiB"), 4096U);
  EXPECT_EQ(parse_bytes("0.5MiB"), 524'288U);
  EXPECT_EQ(parse_bytes("2GiB"), 2'147'483'648U);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const auto* text : {"", "0", "-4", "4kib", "4 parsecs", "KiB", "1.5", "nan", "inf", "1e400",
                           "9007199254740993000", "1e300GiB", "4096x", "0x10", "4096\n"}) {
    EXPECT_THROW(parse_bytes(text), UsageError) << text;
  }
}

TEST(ParseSeconds, KnowsItsUnits) {
  EXPECT_DOUBLE_EQ(parse_seconds("250ms"), 0.25);
  EXPECT_DOUBLE_EQ(parse_seconds("90s"), 90);
  EXPECT_DOUBLE_EQ(parse_seconds("2m"), 120);
  EXPECT_DOUBLE_EQ(parse_seconds("1.5h"), 5400);
}

TEST(ParseSeconds, IsFiniteAndAboveZero) {
  for (const auto* text : {"90", "0s", "-1s", "s", "infs", "1e308h", "1e-322ms", "1d", "25h", ""}) {
    EXPECT_THROW(parse_seconds(text), UsageError) << text;
  }
}

TEST(ParsePercent, WantsItsSign) {
  EXPECT_DOUBLE_EQ(parse_percent("2%"), 0.02);
  EXPECT_DOUBLE_EQ(parse_percent("0.5 %"), 0.005);
  for (const auto* text : {"2", "0%", "100%", "-1%", "2%%", "%", ""}) {
    EXPECT_THROW(parse_percent(text), UsageError) << text;
  }
}

TEST(Units, NameWhatWasWrongAndWhatIsAllowed) {
  try {
    parse_seconds("90");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "'90' is not a duration; allowed: a positive number with ms, s, m or h, as 90s, "
                 "at most 24h");
  }
}

TEST(Format, PrintsTheTableThatPythonAndThePagePrint) {
  const auto duration = &format_duration;
  const auto number = &format_number;
  const auto share = [](double value, double) { return format_share(value); };
  const auto bytes = [](double value, double) {
    return format_bytes(static_cast<std::uint64_t>(value));
  };
#define FORMAT(kind, value, half_width, text) EXPECT_EQ(kind(value, half_width), text);
#include "model/formats.inc"
#undef FORMAT
}

TEST(FormatBytes, IsReadBack) {
  for (const std::uint64_t bytes :
       {1ULL, 1023ULL, 1024ULL, 65'536ULL, 3ULL << 20, 7ULL << 30, 2ULL << 40}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
  }
}

}  // namespace

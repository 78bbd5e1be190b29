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

TEST(FormatDuration, HasThreeDigitsAndAUnit) {
  EXPECT_EQ(format_duration(0.25), "0.25 ns");
  EXPECT_EQ(format_duration(31.25), "31.3 ns");
  EXPECT_EQ(format_duration(999.4), "999 ns");
  EXPECT_EQ(format_duration(999.6), "1.00 us");
  EXPECT_EQ(format_duration(5000), "5.00 us");
  EXPECT_EQ(format_duration(16.6e6), "16.6 ms");
  EXPECT_EQ(format_duration(2.05e12), "2050 s");
  EXPECT_EQ(format_duration(127.5, 90), "130 ns");
  EXPECT_EQ(format_duration(-1286, 4000), "-1.3 us");
}

TEST(FormatNumber, HasThreeDigitsAtMost) {
  EXPECT_EQ(format_number(130930), "131000");
  EXPECT_EQ(format_number(130930, 4000), "131000");
  EXPECT_EQ(format_number(130930, 20000), "130000");
}

TEST(FormatShare, HasTwoDigitsOrATenthOfAPercent) {
  EXPECT_EQ(format_share(0.0004), "0.0 %");
  EXPECT_EQ(format_share(0.031), "3.1 %");
  EXPECT_EQ(format_share(-0.258), "-26 %");
  EXPECT_EQ(format_share(0.0996), "10 %");
  EXPECT_EQ(format_share(11), "over 1000 %");
}

TEST(FormatBytes, TakesTheLargestUnitThatIsExact) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(4096), "4 KiB");
  EXPECT_EQ(format_bytes(1536), "1536 B");
  EXPECT_EQ(format_bytes(4 << 20), "4 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 40), "5 TiB");
}

TEST(FormatBytes, IsReadBack) {
  for (const std::uint64_t bytes :
       {1ULL, 1023ULL, 1024ULL, 65'536ULL, 3ULL << 20, 7ULL << 30, 2ULL << 40}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
  }
}

}  // namespace

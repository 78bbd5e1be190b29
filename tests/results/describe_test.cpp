#include "results/schema/describe.hpp"

#include <gtest/gtest.h>

#include "results/schema/strict_json.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

struct Planted {
  std::uint64_t pages = 0;
  std::string color;
  std::optional<double> share;
};

template <typename Io, Is<Planted> T>
void fields(Io& io, T& planted) {
  io("pages", planted.pages, "Pages of it.");
  io.known("color", planted.color, {words("red blue"), "Its color."});
  io("share", planted.share, between(0, 1));
}

std::string read(std::string_view text, Planted& planted) {
  const Parsed parsed = parse_strict(text, "text");
  return testing::usage_error([&] {
    const Fields item(parsed.value(), "here");
    Get get(item);
    fields(get, planted);
  });
}

/// A key is declared once, and is written, read, checked and described.
TEST(Describe, APlantedKeyReachesAllOutputs) {
  OrderedJson written;
  Put put(written);
  const Planted red{7, "red", std::nullopt};
  fields(put, red);
  EXPECT_EQ(written.dump(), R"({"pages":7,"color":"red","share":null})");

  Planted back;
  EXPECT_EQ(read(written.dump(), back), "");
  EXPECT_EQ(back.pages, 7U);
  EXPECT_EQ(back.color, "red");
  EXPECT_EQ(back.share, std::nullopt);
  EXPECT_EQ(read(R"({"pages":1,"share":0.5})", back), "");
  EXPECT_EQ(back.share, 0.5);
  EXPECT_EQ(read(R"({"pages":1})", back),
            "here/share: expected a number from 0 to 1 or null, found nothing");
  EXPECT_EQ(read(R"({"color":"red"})", back),
            "here/pages: expected an integer from 0 to 9007199254740991, found nothing");
  EXPECT_EQ(read(R"({"pages":1,"color":"gray"})", back),
            "here/color: expected one of red blue, found \"gray\"");

  const OrderedJson schema =
      Describe::document({}, OrderedJson::object(), [&](Describe& io) { fields(io, back); });
  EXPECT_EQ(schema["required"].dump(), R"(["pages","share"])");
  EXPECT_EQ(schema["properties"]["share"]["type"].dump(), R"(["number","null"])");
  EXPECT_EQ(schema["properties"]["color"].dump(),
            R"({"enum":["red","blue"],"description":"Its color."})");
  EXPECT_EQ(schema["properties"]["pages"]["$ref"], "#/$defs/count");
}

}  // namespace
}  // namespace dlbench::results

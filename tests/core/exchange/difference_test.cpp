#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "arrays.hpp"
#include "exchange/verdict.hpp"

namespace {

using namespace dlbench::exchange;
using Shape = std::vector<std::int64_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Difference, IsNoneBetweenEqualArrays) {
  const auto a = array<float>("float32", {1, 2, 3});
  const auto b = array<float>("float32", {1, 2, 3});
  EXPECT_EQ(difference(a.view, b.view), "");
  EXPECT_EQ(difference(a.view, a.view), "");
}

TEST(Difference, NamesTheFirstElementThatDiffers) {
  Array<float> a({0, 1, 2, 4, 4, 5}, {kDLFloat, 32, 1}, {2, 3});
  Array<float> b({0, 1, 2, 0, 4, 9}, {kDLFloat, 32, 1}, {2, 3});
  EXPECT_EQ(difference(a.view, b.view), "element (1, 0): expected 4, found 0");
}

TEST(Difference, MissingElementsAreNotCompared) {
  Array<float> a({0, 1, 2, 3, 4, 5}, {kDLFloat, 32, 1}, {2, 3});
  Array<float> b({9, 1, 2, 3, 9, 5}, {kDLFloat, 32, 1}, {2, 3});
  EXPECT_EQ(difference(a.view, b.view, std::array<unsigned char, 6>{1, 0, 0, 0, 1, 0}), "");
  EXPECT_EQ(difference(a.view, b.view, std::array<unsigned char, 6>{1, 0, 0, 0, 0, 0}),
            "element (1, 1): expected 4, found 9");
  // Whatever order the memory has, a mask is in C order.
  a.view.strides = b.view.strides = {4, 8};
  EXPECT_EQ(difference(a.view, b.view, std::array<unsigned char, 6>{1, 0, 1, 0, 0, 0}), "");
}

TEST(Difference, NanStandsForWhatIsMissing) {
  const float nan = std::nanf("");
  const auto a = array<float>("float32", {1, 2, 3});
  const auto converted = array<double>("float64", {static_cast<double>(nan), 2, 3});
  const auto whole = array<std::int32_t>("int32", {0, 2, 3});
  using Bytes = std::array<unsigned char, 3>;
  EXPECT_TRUE(has_nan_for(Bytes{1, 0, 0}, a.view, converted.view));
  EXPECT_FALSE(has_nan_for(Bytes{1, 1, 0}, a.view, converted.view));
  EXPECT_FALSE(has_nan_for(Bytes{0, 0, 0}, a.view, converted.view));
  EXPECT_FALSE(has_nan_for(Bytes{1, 0, 0}, a.view, a.view));
  EXPECT_FALSE(has_nan_for(Bytes{1, 0, 0}, a.view, whole.view));
}

TEST(Difference, ReadsTheOtherByteOrder) {
  Array<std::int32_t> a({1, -2, 3}, {kDLInt, 32, 1}, {3});
  Array<std::int32_t> b({0x01000000, static_cast<std::int32_t>(0xfeffffff), 0x03000000},
                        {kDLInt, 32, 1}, {3});
  b.view.swapped = true;
  EXPECT_EQ(difference(a.view, b.view), "");
  EXPECT_EQ(difference(b.view, a.view), "");
  EXPECT_EQ(difference(b.view, b.view), "");
  b.memory[1] = 2;
  EXPECT_EQ(difference(a.view, b.view), "element (1,): expected -2, found 33554432");
  // Plain bytes are in the order of what was expected.
  View bytes = a.view;
  bytes.dtype = {kDLUInt, 8, 1};
  bytes.shape = {12};
  bytes.strides = {1};
  bytes.untyped = true;
  EXPECT_EQ(difference(a.view, bytes), "");
  a.view.swapped = true;
  EXPECT_EQ(difference(a.view, bytes), "");
}

TEST(Difference, OfShapes) {
  Array<float> a({0, 1, 2, 3, 4, 5}, {kDLFloat, 32, 1}, {6});
  Array<float> b({0, 1, 2, 3, 4, 5}, {kDLFloat, 32, 1}, {2, 3});
  EXPECT_EQ(difference(a.view, b.view), "shape (2, 3), not (6,)");
  b.view.shape = b.view.strides = {};
  EXPECT_EQ(difference(a.view, b.view), "shape (), not (6,)");
}

TEST(Difference, OfScalarsAndOfNothing) {
  Array<double> a({7}, {kDLFloat, 64, 1}, {});
  Array<double> b({8}, {kDLFloat, 64, 1}, {});
  EXPECT_EQ(difference(a.view, b.view), "element (): expected 7, found 8");
  View none;
  none.shape = {3, 0};
  none.strides = {0, 4};
  EXPECT_EQ(difference(none, none), "");
}

TEST(Difference, ReadsThroughBothLayouts) {
  Array<std::int32_t> a({0, 1, 2, 3, 4, 5}, {kDLInt, 32, 1}, {2, 3});
  Array<std::int32_t> b({0, 3, 1, 4, 2, 5}, {kDLInt, 32, 1}, {2, 3});
  b.view.strides = {4, 8};
  EXPECT_EQ(difference(a.view, b.view), "");
  b.memory[4] = 77;
  EXPECT_EQ(difference(a.view, b.view), "element (0, 2): expected 2, found 77");

  Array<std::int32_t> backwards({5, 4, 3, 2, 1, 0}, {kDLInt, 32, 1}, {2, 3});
  backwards.view.address += 5 * sizeof(std::int32_t);
  backwards.view.strides = {-12, -4};
  EXPECT_EQ(difference(a.view, backwards.view), "");
}

TEST(Difference, ReadsRowsThatAreCompactOnlyInside) {
  Array<std::uint8_t> a({0, 1, 99, 2, 3, 99, 4, 5, 99}, {kDLUInt, 8, 1}, {3, 2});
  a.view.strides = {3, 1};
  Array<std::uint8_t> b({0, 1, 2, 3, 4, 5}, {kDLUInt, 8, 1}, {3, 2});
  EXPECT_EQ(difference(a.view, b.view), "");
  b.memory[5] = 6;
  EXPECT_EQ(difference(a.view, b.view), "element (2, 1): expected 5, found 6");
}

TEST(Difference, WalksBackAtTheEndOfEachDimension) {
  constexpr std::array<std::int64_t, 3> kShape{3, 4, 5};
  Array<std::int32_t> a(std::vector<std::int32_t>(60), {kDLInt, 32, 1}, {3, 4, 5});
  Array<std::int32_t> b(std::vector<std::int32_t>(60), {kDLInt, 32, 1}, {3, 4, 5});
  b.view.strides = {4, 60, 12};
  for (std::int64_t i = 0; i < 60; ++i) {
    const std::int64_t plane = i / 20;
    const std::int64_t row = i / kShape[2] % kShape[1];
    const std::int64_t column = i % kShape[2];
    a.memory.at(static_cast<std::size_t>(i)) = static_cast<std::int32_t>(i);
    b.memory.at(static_cast<std::size_t>(plane + row * 15 + column * 3)) =
        static_cast<std::int32_t>(i);
  }
  EXPECT_EQ(difference(a.view, b.view), "");
  EXPECT_EQ(difference(b.view, a.view), "");
  b.memory[59] = -1;
  EXPECT_EQ(difference(a.view, b.view), "element (2, 3, 4): expected 59, found -1");
}

TEST(Difference, ABroadcastArrayEqualsItsSpelledOutTwin) {
  Array<float> a({7}, {kDLFloat, 32, 1}, {2, 2});
  a.view.strides = {0, 0};
  Array<float> b({7, 7, 7, 7}, {kDLFloat, 32, 1}, {2, 2});
  EXPECT_EQ(difference(a.view, b.view), "");
}

TEST(Difference, NanEqualsNanWhateverItsBits) {
  const float quiet = std::bit_cast<float>(0x7fc00000U);
  const float other = std::bit_cast<float>(0xffc01234U);
  const auto a = array<float>("float32", {1, quiet, 3});
  const auto b = array<float>("float32", {1, other, 3});
  const auto c = array<float>("float32", {1, 2, 3});
  EXPECT_EQ(difference(a.view, b.view), "");
  EXPECT_EQ(difference(a.view, c.view), "element (1,): expected nan, found 2");
  EXPECT_EQ(difference(c.view, a.view), "element (1,): expected 2, found nan");
}

TEST(Difference, ALostSignOfZeroIsOne) {
  const auto a = array<double>("float64", {-0.0});
  const auto b = array<double>("float64", {0.0});
  EXPECT_EQ(difference(a.view, b.view), "element (0,): expected -0, found 0");
}

TEST(Difference, OfComplexNumbers) {
  const auto a = array<std::complex<float>>("complex64", {{1, 2}, {3, -4}});
  const auto b = array<std::complex<float>>("complex64", {{1, 2}, {3, 4}});
  EXPECT_EQ(difference(a.view, b.view), "element (1,): expected 3-4j, found 3+4j");
  const auto wide = array<std::complex<double>>("complex128", {{1, 2}, {3, -4}});
  EXPECT_EQ(difference(a.view, wide.view), "");
  const auto real = array<float>("float32", {1, 3});
  EXPECT_EQ(difference(a.view, real.view), "element (0,): expected 1+2j, found 1");
}

TEST(Difference, OfBytesWhereTheDtypeHasNoNumbers) {
  Array<std::uint16_t> a({0x0102}, {kDLOpaqueHandle, 16, 1}, {1});
  Array<std::uint16_t> b({0x0103}, {kDLOpaqueHandle, 16, 1}, {1});
  EXPECT_EQ(difference(a.view, a.view), "");
  EXPECT_NE(difference(a.view, b.view).find("element (0,): expected bytes "), std::string::npos);
  const auto c = array<float>("float32", {1});
  EXPECT_THROW(difference(c.view, a.view), UnknownFormatError);
  Array<float> opaque({1, 2}, {kDLOpaqueHandle, 32, 1}, {1});
  EXPECT_EQ(difference(c.view, opaque.view), "");
  opaque.memory[0] = 2;
  EXPECT_THROW(difference(c.view, opaque.view), UnknownFormatError);
}

TEST(Difference, EveryTrueIsTheSame) {
  const auto a = array<std::uint8_t>("bool", {0, 1, 1});
  const auto b = array<std::uint8_t>("bool", {0, 255, 1});
  EXPECT_EQ(difference(a.view, b.view), "");
  const auto c = array<std::uint8_t>("bool", {0, 1, 0});
  EXPECT_EQ(difference(a.view, c.view), "element (2,): expected 1, found 0");
}

TEST(Difference, ReadsHostMemoryOnly) {
  const auto a = array<float>("float32", {1});
  View b = a.view;
  b.device.type = kDLCUDA;
  EXPECT_THROW(difference(a.view, b), ViewError);
  EXPECT_THROW(difference(b, a.view), ViewError);
  b.device.type = kDLCUDAHost;
  EXPECT_EQ(difference(a.view, b), "");
}

TEST(DifferenceOverDtypes, EqualValuesAreEqual) {
  const auto wide = array<double>("float64", {1, -2.5, std::numeric_limits<double>::infinity()});
  const auto single = array<float>("float32", {1, -2.5, kInf});
  EXPECT_EQ(difference(wide.view, single.view), "");
  EXPECT_EQ(difference(single.view, wide.view), "");
  const auto bytes = array<std::uint8_t>("uint8", {0, 1, 255});
  const auto words = array<std::int64_t>("int64", {0, 1, 255});
  EXPECT_EQ(difference(bytes.view, words.view), "");
  const auto wrapped = array<std::int8_t>("int8", {0, 1, -1});
  EXPECT_EQ(difference(bytes.view, wrapped.view), "element (2,): expected 255, found -1");
}

TEST(DifferenceOverDtypes, RoundingToTheFoundDtypeIsExplained) {
  const auto exact = array<double>("float64", {0.1, 1.0 / 3, 1e-45});
  const auto nearest = array<float>("float32", {0.1F, 1.0F / 3, 1.4e-45F});
  EXPECT_EQ(difference(exact.view, nearest.view), "");
  const auto one = array<double>("float64", {0.1});
  const auto truncated = array<float>("float32", {std::nextafter(0.1F, 0.0F)});
  EXPECT_EQ(difference(one.view, truncated.view), "");
  const auto two_off = array<float>("float32", {std::nextafter(0.1F, 1.0F)});
  EXPECT_EQ(difference(one.view, two_off.view).substr(0, 12), "element (0,)");
}

TEST(DifferenceOverDtypes, AnExactValueMustStayExact) {
  const auto exact = array<double>("float64", {1.0});
  for (const float off : {std::nextafter(1.0F, 0.0F), std::nextafter(1.0F, 2.0F)}) {
    const auto found = array<float>("float32", {off});
    EXPECT_NE(difference(exact.view, found.view), "") << off;
  }
}

TEST(DifferenceOverDtypes, RoundedBackIsNotExplained) {
  // A float64 has room for the 0.1 that a detour over float32 lost.
  const auto exact = array<double>("float64", {0.1});
  const auto detour = array<double>("float64", {static_cast<double>(0.1F)});
  EXPECT_NE(difference(exact.view, detour.view), "");
}

TEST(DifferenceOverDtypes, RangeIsNoMatterOfPrecision) {
  const auto exact = array<double>("float64", {1e300});
  const auto found = array<float>("float32", {kInf});
  EXPECT_EQ(difference(exact.view, found.view), "element (0,): expected 1e+300, found inf");
}

TEST(DifferenceOverDtypes, LargeIntegersAreNotRoundedByTheComparison) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 62) + 1;
  const auto exact = array<std::int64_t>("int64", {kOdd});
  const auto found = array<std::uint64_t>("uint64", {static_cast<std::uint64_t>(kOdd) - 1});
  EXPECT_EQ(difference(exact.view, found.view),
            "element (0,): expected 4611686018427387905, found 4611686018427387904");
  const auto single = array<float>("float32", {static_cast<float>(kOdd)});
  EXPECT_EQ(difference(exact.view, single.view), "");
  const auto lowest = array<std::int64_t>("int64", {std::numeric_limits<std::int64_t>::min()});
  const auto power = array<double>("float64", {-0x1p63});
  EXPECT_EQ(difference(lowest.view, power.view), "");
  EXPECT_EQ(difference(power.view, lowest.view), "");
}

TEST(DifferenceOverDtypes, FloatsToIntegersMustBeWhole) {
  const auto whole = array<float>("float32", {3, -4, -0.0F});
  const auto found = array<std::int32_t>("int32", {3, -4, 0});
  EXPECT_EQ(difference(whole.view, found.view), "");
  const auto half = array<float>("float32", {3.5F, -4, 0});
  EXPECT_EQ(difference(half.view, found.view), "element (0,): expected 3.5, found 3");
  const auto nan = array<float>("float32", {std::nanf(""), -4, 0});
  EXPECT_EQ(difference(nan.view, found.view), "element (0,): expected nan, found 3");
}

TEST(DifferenceOverDtypes, BoolsAreZeroAndOne) {
  const auto bools = array<std::uint8_t>("bool", {0, 1});
  const auto bytes = array<std::uint8_t>("uint8", {0, 1});
  EXPECT_EQ(difference(bools.view, bytes.view), "");
  const auto seven = array<std::uint8_t>("uint8", {0, 7});
  EXPECT_EQ(difference(seven.view, bools.view), "element (1,): expected 7, found 1");
}

}  // namespace

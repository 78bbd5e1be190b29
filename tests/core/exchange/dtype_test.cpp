#include "exchange/dtype.hpp"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "exchange/float_format.hpp"
#include "exchange/number.hpp"

namespace {

using namespace dlbench::exchange;

TEST(DtypeName, ThereAndBack) {
  for (const auto* name :
       {"bool", "int8", "int64", "uint16", "float16", "float32", "float64", "bfloat16", "complex64",
        "complex128", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"}) {
    EXPECT_EQ(to_string(dtype_from_name(name)), name);
  }
  EXPECT_EQ(dtype_from_name("float32"), Dtype{});
  EXPECT_EQ(dtype_from_name("bfloat16"), (Dtype{kDLBfloat, 16, 1}));
}

TEST(DtypeName, SpellsOutWhatHasNone) {
  EXPECT_EQ(to_string(Dtype{2, 24, 1}), "code2bits24lanes1");
  EXPECT_EQ(to_string(Dtype{2, 32, 4}), "code2bits32lanes4");
  EXPECT_THROW(dtype_from_name("float31"), ViewError);
  EXPECT_THROW(dtype_from_name(""), ViewError);
}

double decoded(const char* dtype, std::uint16_t bits) {
  const Array<std::uint16_t> one({bits}, dtype_from_name(dtype), {1});
  return number_at(one.view.address, one.view.dtype).re;
}

struct Coded {
  const char* dtype;
  std::uint16_t bits;
  double value;
};

// Values from the formats' own tables: largest, smallest, one, and the odd ones out.
TEST(Number, DecodesTheSmallFloats) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const Coded& row : std::vector<Coded>{{"float16", 0x3c00, 1},
                                             {"float16", 0x7bff, 65504},
                                             {"float16", 0x0001, 0x1p-24},
                                             {"float16", 0xfc00, -kInfinite},
                                             {"bfloat16", 0x3f80, 1},
                                             {"bfloat16", 0xc049, -3.140625},
                                             {"bfloat16", 0x7f80, kInfinite},
                                             {"float8_e4m3fn", 0x7e, 448},
                                             {"float8_e4m3fn", 0x01, 0x1p-9},
                                             {"float8_e4m3", 0x77, 240},
                                             {"float8_e4m3", 0x78, kInfinite},
                                             {"float8_e4m3fnuz", 0x7f, 240},
                                             {"float8_e4m3b11fnuz", 0x7f, 30},
                                             {"float8_e5m2", 0x7b, 57344},
                                             {"float8_e5m2", 0xfc, -kInfinite},
                                             {"float8_e5m2fnuz", 0x7f, 57344},
                                             {"float8_e3m4", 0x6f, 15.5},
                                             {"float8_e8m0fnu", 0x00, 0x1p-127},
                                             {"float8_e8m0fnu", 0x7f, 1},
                                             {"float6_e2m3fn", 0x1f, 7.5},
                                             {"float6_e3m2fn", 0x1f, 28},
                                             {"float4_e2m1fn", 0x07, 6},
                                             {"float4_e2m1fn", 0x09, -0.5}}) {
    EXPECT_EQ(decoded(row.dtype, row.bits), row.value) << row.dtype << ' ' << row.bits;
  }
  for (const Coded& row : std::vector<Coded>{{"float16", 0x7e00, 0},
                                             {"bfloat16", 0xffc0, 0},
                                             {"float8_e4m3fn", 0x7f, 0},
                                             {"float8_e4m3fnuz", 0x80, 0},
                                             {"float8_e5m2fnuz", 0x80, 0},
                                             {"float8_e5m2", 0x7d, 0},
                                             {"float8_e8m0fnu", 0xff, 0}}) {
    EXPECT_TRUE(std::isnan(decoded(row.dtype, row.bits))) << row.dtype;
  }
}

TEST(Number, DecodesFloatsAndDoublesExactly) {
  for (const double value : {0.0, -0.0, 1.0, -0.1, 5e-324, 1.7976931348623157e308, 2.5e-310}) {
    const auto one = array<double>("float64", {value});
    const double read = number_at(one.view.address, one.view.dtype).re;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(value));
  }
  for (const float value : {1.4e-45F, -3.4028235e38F, 0.1F}) {
    const auto one = array<float>("float32", {value});
    EXPECT_EQ(number_at(one.view.address, one.view.dtype).re, value);
  }
}

TEST(Number, DecodesIntegersToTheirEnds) {
  const auto low = array<std::int64_t>("int64", {std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(to_string(number_at(low.view.address, low.view.dtype), low.view.dtype),
            "-9223372036854775808");
  const auto high = array<std::uint64_t>("uint64", {std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(to_string(number_at(high.view.address, high.view.dtype), high.view.dtype),
            "18446744073709551615");
  const auto byte = array<std::int8_t>("int8", {-128});
  EXPECT_EQ(to_string(number_at(byte.view.address, byte.view.dtype), byte.view.dtype), "-128");
}

TEST(Number, ReadsUnalignedElements) {
  alignas(8) std::array<unsigned char, 12> memory{};
  const double value = 0.1;
  std::memcpy(memory.data() + 1, &value, sizeof value);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data()) + 1;
  EXPECT_EQ(number_at(address, dtype_from_name("float64")).re, value);
}

TEST(Number, KnowsWhatItCannotDecode) {
  EXPECT_TRUE(has_numbers(dtype_from_name("bfloat16")));
  EXPECT_TRUE(has_numbers(dtype_from_name("bool")));
  EXPECT_FALSE(has_numbers({kDLOpaqueHandle, 64, 1}));
  EXPECT_FALSE(has_numbers({kDLFloat, 128, 1}));
  EXPECT_FALSE(has_numbers({kDLFloat, 32, 4}));
  EXPECT_FALSE(has_numbers({kDLInt, 24, 1}));
}

TEST(FloatFormat, RoundsAsTheHardwareDoes) {
  const FloatFormat single = float_format({kDLFloat, 32, 1}).value();
  for (const double exact : {0.1, 1e-40, 123456789.0, 3.3e38, -2.0 / 3}) {
    EXPECT_TRUE(single.can_be(exact, static_cast<double>(static_cast<float>(exact)))) << exact;
  }
  const FloatFormat brain = float_format({kDLBfloat, 16, 1}).value();
  EXPECT_TRUE(brain.can_be(3.14159, 3.140625));
  EXPECT_TRUE(brain.can_be(3.14159, 3.15625));
  EXPECT_FALSE(brain.can_be(3.14159, 3.125));
}

}  // namespace

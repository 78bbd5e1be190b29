#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "exchange/dtype.hpp"
#include "exchange/read.hpp"

namespace {

using namespace dlbench::exchange;
using Extents = std::vector<std::int64_t>;

alignas(16) std::array<unsigned char, 256> memory{};
const auto kAddress = reinterpret_cast<std::uintptr_t>(memory.data());

template <typename Facts>
std::string refusal(const Facts& facts) {
  try {
    read(facts);
  } catch (const ViewError& error) {
    return error.what();
  }
  return "read";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string format_name(std::string_view format, std::int64_t itemsize) {
  try {
    return to_string(read(BufferFacts{.address = kAddress,
                                      .length = itemsize,
                                      .itemsize = itemsize,
                                      .format = format,
                                      .shape = {},
                                      .strides = {}})
                         .dtype);
  } catch (const ViewError& error) {
    return error.what();
  }
}

TEST(ReadBuffer, GivesTheView) {
  const Extents shape{2, 3};
  const Extents strides{-24, 8};
  const BufferFacts facts{.address = kAddress + 24,
                          .length = 48,
                          .itemsize = 8,
                          .format = "d",
                          .shape = shape,
                          .strides = strides,
                          .readonly = true};
  const View view = read(facts);
  EXPECT_EQ(view.address, kAddress + 24);
  EXPECT_EQ(to_string(view.dtype), "float64");
  EXPECT_EQ(view.device, Device{});
  EXPECT_EQ(view.shape, shape);
  EXPECT_EQ(view.strides, strides);
  EXPECT_TRUE(view.readonly);
}

TEST(ReadBuffer, NoStridesAreCompact) {
  const Extents shape{2, 3};
  const BufferFacts facts{.address = kAddress,
                          .length = 12,
                          .itemsize = 2,
                          .format = "e",
                          .shape = shape,
                          .strides = {}};
  EXPECT_EQ(read(facts).strides, (Extents{6, 2}));
  EXPECT_FALSE(read(facts).readonly);
}

TEST(ReadBuffer, KnowsTheFormats) {
  const std::vector<std::tuple<std::string, std::int64_t, std::string>> formats{
      {"?", 1, "bool"},
      {"b", 1, "int8"},
      {"B", 1, "uint8"},
      {"h", 2, "int16"},
      {"H", 2, "uint16"},
      {"i", 4, "int32"},
      {"I", 4, "uint32"},
      {"l", sizeof(long), sizeof(long) == 8 ? "int64" : "int32"},
      {"q", 8, "int64"},
      {"Q", 8, "uint64"},
      {"n", sizeof(std::size_t), "int64"},
      {"N", 8, "uint64"},
      {"e", 2, "float16"},
      {"f", 4, "float32"},
      {"d", 8, "float64"},
      {"Zf", 8, "complex64"},
      {"Zd", 16, "complex128"},
      {"@f", 4, "float32"},
      {"=l", 4, "int32"},
      {"<L", 4, "uint32"},
      {"<q", 8, "int64"},
      {"=?", 1, "bool"},
      {"<Zd", 16, "complex128"},
      {">b", 1, "int8"},
      {"!B", 1, "uint8"}};
  for (const auto& [format, itemsize, name] : formats) {
    EXPECT_EQ(format_name(format, itemsize), name) << format;
  }
}

TEST(ReadBuffer, RefusesFormatsThatAreNoneOfIts) {
  for (const auto* format : {"", "@", "g", "Zg", "s", "P", "x", "T{f:a:}", "2f", "ff", "Z", "f ",
                             "&f", "=n", "<N", "<<f", "\n"}) {
    EXPECT_TRUE(holds(format_name(format, 4), "unknown format")) << format;
  }
  EXPECT_TRUE(holds(format_name("O", 4), "unknown format"));
  EXPECT_EQ(format_name("\x01\xff", 4),
            "unknown format '?"
            "?'");
}

TEST(ReadBuffer, SaysThatAFormatIsByteSwapped) {
  for (const auto* format : {">f", "!f", ">i"}) {
    EXPECT_TRUE(holds(format_name(format, 4), "byte-swapped")) << format;
  }
}

TEST(ReadBuffer, RefusesSizesThatContradictEachOther) {
  EXPECT_TRUE(holds(format_name("f", 8), "itemsize"));
  EXPECT_TRUE(holds(format_name("=l", 8), "itemsize"));
  const Extents shape{3};
  const Extents strides{4, 4};
  BufferFacts facts{.address = kAddress,
                    .length = 16,
                    .itemsize = 4,
                    .format = "f",
                    .shape = shape,
                    .strides = {}};
  EXPECT_TRUE(holds(refusal(facts), "16 bytes long"));
  facts.length = -12;
  EXPECT_TRUE(holds(refusal(facts), "-12 bytes long"));
  facts.length = 12;
  EXPECT_EQ(refusal(facts), "read");
  facts.strides = strides;
  EXPECT_TRUE(holds(refusal(facts), "2 strides for 1 dimensions"));
}

TEST(ReadBuffer, RefusesNullNegativeAndHuge) {
  const Extents one{1};
  const Extents none{0};
  const Extents negative{-1};
  const Extents huge{std::int64_t{1} << 62, 4};
  const Extents deep(65, 1);
  BufferFacts facts{
      .address = 0, .length = 1, .itemsize = 1, .format = "B", .shape = one, .strides = {}};
  EXPECT_TRUE(holds(refusal(facts), "pointer is null"));
  facts.shape = none;
  facts.length = 0;
  EXPECT_EQ(refusal(facts), "read");
  facts.address = kAddress;
  facts.shape = negative;
  EXPECT_TRUE(holds(refusal(facts), "negative shape"));
  facts.shape = huge;
  EXPECT_TRUE(holds(refusal(facts), "overflow"));
  facts.shape = deep;
  EXPECT_TRUE(holds(refusal(facts), "ndim"));
}

std::string typestr_name(std::string_view typestr) {
  const Extents shape{1};
  const InterfaceFacts facts{
      .address = kAddress, .typestr = typestr, .shape = shape, .strides = std::nullopt};
  try {
    return to_string(read(facts).dtype);
  } catch (const ViewError& error) {
    return error.what();
  }
}

TEST(ReadInterface, KnowsTheTypestrs) {
  for (const auto& [typestr, name] :
       std::vector<std::pair<std::string, std::string>>{{"|b1", "bool"},
                                                        {"|i1", "int8"},
                                                        {"<i2", "int16"},
                                                        {"<i4", "int32"},
                                                        {"<i8", "int64"},
                                                        {"|u1", "uint8"},
                                                        {"<u8", "uint64"},
                                                        {"<f2", "float16"},
                                                        {"<f4", "float32"},
                                                        {"=f8", "float64"},
                                                        {"<c8", "complex64"},
                                                        {"<c16", "complex128"},
                                                        {">i1", "int8"}}) {
    EXPECT_EQ(typestr_name(typestr), name);
  }
}

TEST(ReadInterface, RefusesTypestrsThatAreNone) {
  for (const auto* typestr : {"", "<", "<f", "f4", "<f3", "<f16", "<V2", "<M8", "<U4", "<f4x",
                              "<f-4", "<f 4", "<i99999999999999999999", "<b2", "*f4"}) {
    EXPECT_TRUE(holds(typestr_name(typestr), "unknown type")) << typestr;
  }
  EXPECT_TRUE(holds(typestr_name(">f4"), "byte-swapped"));
  EXPECT_TRUE(holds(typestr_name("|O4"), "unknown type"));
}

TEST(ReadInterface, TellsNoStridesFromStrides) {
  const Extents shape{2, 2};
  const Extents strides{4, 8};
  InterfaceFacts facts{.address = kAddress,
                       .typestr = "<f4",
                       .shape = shape,
                       .strides = std::nullopt,
                       .readonly = true,
                       .device_type = kDLCUDA};
  EXPECT_EQ(read(facts).strides, (Extents{8, 4}));
  EXPECT_TRUE(read(facts).readonly);
  EXPECT_EQ(read(facts).device.type, kDLCUDA);
  facts.strides = strides;
  EXPECT_EQ(read(facts).strides, strides);
  facts.strides = std::span<const std::int64_t>();
  EXPECT_TRUE(holds(refusal(facts), "0 strides for 2 dimensions"));
}

struct Struct : ArrayStruct {
  Struct() : ArrayStruct{} {
    two = 2;
    nd = 2;
    typekind = 'f';
    itemsize = 4;
    flags = 0x200 | 0x400;
    shape = shape_.data();
    strides = strides_.data();
    data = memory.data();
  }
  Struct(const Struct&) = delete;
  Struct& operator=(const Struct&) = delete;

  std::array<std::intptr_t, 2> shape_{2, 3};
  std::array<std::intptr_t, 2> strides_{4, 8};
};

TEST(ReadArrayStruct, GivesTheView) {
  const Struct array;
  const View view = read(array);
  EXPECT_EQ(view.address, kAddress);
  EXPECT_EQ(to_string(view.dtype), "float32");
  EXPECT_EQ(view.shape, (Extents{2, 3}));
  EXPECT_EQ(view.strides, (Extents{4, 8}));
  EXPECT_FALSE(view.readonly);
}

TEST(ReadArrayStruct, IsReadOnlyWithoutTheWriteableFlag) {
  Struct array;
  array.flags = 0x200;
  EXPECT_TRUE(read(array).readonly);
}

TEST(ReadArrayStruct, RefusesWhatCannotBe) {
  Struct two;
  two.two = 3;
  EXPECT_TRUE(holds(refusal<ArrayStruct>(two), "`two` is 3"));
  Struct deep;
  deep.nd = 65;
  EXPECT_TRUE(holds(refusal<ArrayStruct>(deep), "ndim"));
  Struct negative;
  negative.nd = -1;
  EXPECT_TRUE(holds(refusal<ArrayStruct>(negative), "ndim"));
  Struct swapped;
  swapped.flags = 0x400;
  EXPECT_TRUE(holds(refusal<ArrayStruct>(swapped), "byte-swapped"));
  Struct kind;
  kind.typekind = 'V';
  EXPECT_TRUE(holds(refusal<ArrayStruct>(kind), "unknown type kind 'V' of 4 bytes"));
  Struct null_data;
  null_data.data = nullptr;
  EXPECT_TRUE(holds(refusal<ArrayStruct>(null_data), "pointer is null"));
  Struct null_shape;
  null_shape.shape = nullptr;
  EXPECT_TRUE(holds(refusal<ArrayStruct>(null_shape), "shape is a null pointer"));
}

TEST(ReadArrayStruct, OfAScalarAndWithoutStrides) {
  Struct scalar;
  scalar.nd = 0;
  scalar.shape = nullptr;
  scalar.strides = nullptr;
  EXPECT_EQ(read(scalar).elements(), 1);
  Struct compact;
  compact.strides = nullptr;
  EXPECT_EQ(read(compact).strides, (Extents{12, 4}));
}

}  // namespace

#include "exchange/restated.hpp"

#include <gtest/gtest.h>

#include "arrays.hpp"
#include "exchange/verdict.hpp"

namespace dlbench::exchange {
namespace {

const std::vector<float> kValues{3, 10, 17};

std::vector<std::uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct Untyped : Array<std::uint8_t> {
  explicit Untyped(const std::vector<std::uint8_t>& bytes)
      : Array(bytes, dtype_from_name("uint8"), {static_cast<std::int64_t>(bytes.size())}) {
    view.untyped = true;
  }
};

TEST(Restated, BytesWithADtypeAreNumbers) {
  const auto expected = array("float32", kValues);
  const auto found = array("uint8", bytes_of(kValues));
  EXPECT_EQ(difference(expected.view, found.view), "shape (12,), not (3,)");
  const auto narrow = array("float8_e5m2", std::vector<std::uint8_t>{0, 60});
  const auto integers = array("int8", std::vector<std::int8_t>{0, 60});
  EXPECT_EQ(difference(narrow.view, integers.view), "element (1,): expected 1, found 60");
}

TEST(Restated, BytesOfColumnsMayBeInEitherOrder) {
  Array<std::uint16_t> columns({1, 2, 3, 4, 5, 6}, dtype_from_name("uint16"), {2, 3});
  columns.view.strides = {2, 4};
  const Untyped as_they_lie({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0});
  EXPECT_EQ(difference(columns.view, as_they_lie.view), "");
  EXPECT_EQ(changed(columns.view, as_they_lie.view), std::vector<std::string>{"dtype"});
  const Untyped in_rows({1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0});
  EXPECT_EQ(difference(columns.view, in_rows.view), "");
  EXPECT_EQ(changed(columns.view, in_rows.view), (std::vector<std::string>{"dtype", "layout"}));
  const Untyped neither({1, 0, 3, 0, 5, 0, 2, 0, 6, 0, 4, 0});
  EXPECT_EQ(difference(columns.view, neither.view), "element (1, 1): expected 4, found 6");
}

TEST(Restated, AnObjectWithoutDtypesHoldsBytes) {
  const auto floats = array("float32", kValues);
  const View expected = without_dtype(floats.view);
  const auto numbers = array("uint8", bytes_of(kValues));
  EXPECT_EQ(difference(expected, numbers.view), "");
  EXPECT_EQ(changed(expected, numbers.view), std::vector<std::string>{});
  EXPECT_EQ(difference(expected, Untyped(bytes_of(kValues)).view), "");
  EXPECT_EQ(difference(expected, floats.view), "shape (3,), not (12,)");
  View strided = floats.view;
  strided.strides = {8};
  EXPECT_EQ(without_dtype(strided), strided);
  strided.shape = {0, 8};
  strided.strides = {0, 0};
  EXPECT_EQ(without_dtype(strided).shape, std::vector<std::int64_t>{0});
}

TEST(Restated, PlainBytesAreTheSameArrayWithoutItsDtype) {
  const auto expected = array("float32", kValues);
  const Untyped found(bytes_of(kValues));
  EXPECT_EQ(difference(expected.view, found.view), "");
  EXPECT_EQ(changed(expected.view, found.view), std::vector<std::string>{"dtype"});
}

TEST(Restated, AnotherByteIsAnotherValue) {
  const auto expected = array("float32", kValues);
  Untyped found(bytes_of(kValues));
  found.memory[4] ^= 1;
  EXPECT_NE(difference(expected.view, found.view).find("element (1,): expected 10"),
            std::string::npos);
}

TEST(Restated, BytesThatAreNotAllOfItAreNoArray) {
  const auto expected = array("float32", kValues);
  Untyped found(bytes_of(kValues));
  found.view.shape = {11};
  EXPECT_EQ(difference(expected.view, found.view), "shape (11,), not (3,)");
  found.view.shape = {12};
  found.view.strides = {2};
  EXPECT_EQ(difference(expected.view, found.view), "shape (12,), not (3,)");
}

TEST(Restated, AWriteShowsThroughBytes) {
  auto source = array("float32", kValues);
  View bytes = source.view;
  bytes.dtype = dtype_from_name("uint8");
  bytes.shape = {12};
  bytes.strides = {1};
  EXPECT_EQ(write_through(source.view, bytes), Proof::yes);
  const auto copy = array("uint8", bytes_of(kValues));
  EXPECT_EQ(write_through(source.view, copy.view), Proof::no);
}

TEST(Restated, DimensionsOfOneElementMayComeAndGo) {
  const auto expected = array("float32", kValues);
  const Array<float> column(kValues, {}, {3, 1});
  EXPECT_EQ(difference(expected.view, column.view), "");
  EXPECT_EQ(difference(column.view, expected.view), "");
  EXPECT_EQ(changed(expected.view, column.view), std::vector<std::string>{"shape"});
  const Array<float> row({3, 10, 18}, {}, {1, 3});
  EXPECT_EQ(difference(expected.view, row.view), "element (2,): expected 17, found 18");
}

TEST(Restated, OtherShapesAreOther) {
  const auto flat = array("float32", std::vector<float>(6));
  const Array<float> square(std::vector<float>(6), {}, {2, 3});
  EXPECT_EQ(difference(flat.view, square.view), "shape (2, 3), not (6,)");
  EXPECT_EQ(restated(flat.view, square.view), square.view);
}

}  // namespace
}  // namespace dlbench::exchange

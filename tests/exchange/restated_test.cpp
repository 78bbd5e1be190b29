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

TEST(Restated, PlainBytesAreTheSameArrayWithoutItsDtype) {
  const auto expected = array("float32", kValues);
  const auto found = array("uint8", bytes_of(kValues));
  EXPECT_EQ(difference(expected.view, found.view), "");
  EXPECT_EQ(changed(expected.view, found.view), std::vector<std::string>{"dtype"});
}

TEST(Restated, AnotherByteIsAnotherValue) {
  const auto expected = array("float32", kValues);
  auto found = array("uint8", bytes_of(kValues));
  found.memory[4] ^= 1;
  EXPECT_NE(difference(expected.view, found.view).find("element (1,): expected 10"),
            std::string::npos);
}

TEST(Restated, BytesThatAreNotAllOfItAreNoArray) {
  const auto expected = array("float32", kValues);
  auto found = array("uint8", bytes_of(kValues));
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

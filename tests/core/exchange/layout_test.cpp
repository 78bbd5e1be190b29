#include "exchange/layout.hpp"

#include <gtest/gtest.h>

namespace dlbench::exchange {
namespace {

View view_at(std::uintptr_t address, std::vector<std::int64_t> shape,
             std::vector<std::int64_t> strides) {
  View view;
  view.address = address;
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  return view;
}

TEST(ExtentTest, ReachesFromTheLowestByteToPastTheHighest) {
  const Extent compact = extent_of(view_at(1000, {2, 3}, {12, 4}));
  EXPECT_EQ(compact.begin, 1000U);
  EXPECT_EQ(compact.end, 1024U);
  EXPECT_EQ(compact.bytes(), 24U);
  const Extent gaps = extent_of(view_at(1000, {3}, {8}));
  EXPECT_EQ(gaps.end, 1020U);
  const Extent reversed = extent_of(view_at(1000, {3}, {-4}));
  EXPECT_EQ(reversed.begin, 992U);
  EXPECT_EQ(reversed.end, 1004U);
}

TEST(ExtentTest, OneElementRepeatedIsOneElement) {
  EXPECT_EQ(extent_of(view_at(1000, {5, 5}, {0, 0})).bytes(), 4U);
  EXPECT_EQ(extent_of(view_at(1000, {}, {})).bytes(), 4U);
}

TEST(ExtentTest, NoElementsHoldNothing) {
  const Extent none = extent_of(view_at(1000, {0}, {4}));
  EXPECT_EQ(none.bytes(), 0U);
  EXPECT_FALSE(none.holds(1000));
  EXPECT_FALSE(none.overlaps(extent_of(view_at(1000, {4}, {4}))));
}

TEST(ExtentTest, NeighborsDoNotOverlap) {
  const Extent low = extent_of(view_at(1000, {4}, {4}));
  const Extent high = extent_of(view_at(1016, {4}, {4}));
  EXPECT_FALSE(low.overlaps(high));
  EXPECT_FALSE(low.holds(1016));
  EXPECT_TRUE(high.holds(1016));
  EXPECT_TRUE(low.overlaps(extent_of(view_at(1015, {1}, {4}))));
}

}  // namespace
}  // namespace dlbench::exchange

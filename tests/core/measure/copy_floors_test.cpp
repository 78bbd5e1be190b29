#include "measure/copy_floors.hpp"

#include <gtest/gtest.h>

namespace dlbench::measure {
namespace {

TEST(CopyFloors, AreFiniteRatesAndFreshPagesAreNotTheFasterOnes) {
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{1} << 20, kCopyBytes}) {
    const CopyFloors floors = copy_floors(bytes);
    EXPECT_GT(floors.fresh_gb_per_s, 0.001);
    EXPECT_GT(floors.warm_gb_per_s, floors.fresh_gb_per_s);
    EXPECT_LT(floors.warm_gb_per_s, 10'000);
  }
}

}  // namespace
}  // namespace dlbench::measure

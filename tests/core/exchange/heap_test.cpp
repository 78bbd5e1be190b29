#include "exchange/guard/heap.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace dlbench::exchange {
namespace {

#if !defined(__GLIBC__)

TEST(Heap, IsUnknownElsewhere) {
  EXPECT_FALSE(heap_bytes());
}

// A sanitizer's own malloc counts in another way.
#elif __GLIBC_PREREQ(2, 33) && !defined(__SANITIZE_ADDRESS__)

TEST(Heap, AgreesWithTheCLibrarysOwnDeclaration) {
  const struct mallinfo2 info = ::mallinfo2();
  const auto bytes = heap_bytes();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, info.uordblks + info.hblkhd);
}

TEST(Heap, GrowsByWhatIsAllocated) {
  for (const std::size_t size : {std::size_t{1} << 16, std::size_t{1} << 24}) {
    const auto before = heap_bytes();
    const std::unique_ptr<void, decltype(&std::free)> block(std::malloc(size), &std::free);
    ASSERT_NE(block, nullptr);
    EXPECT_GE(*heap_bytes(), *before + size);
  }
}

#endif

}  // namespace
}  // namespace dlbench::exchange

#include <gtest/gtest.h>

#include "exchange/guard/guard.hpp"
#include "exchange/verdict.hpp"
#include "pages.hpp"

// One memory mapped twice.
namespace {

using namespace dlbench::exchange;
using namespace dlbench::exchange::testing;
using dlbench::Proof;

View view_of(const Memory& memory) {
  View view;
  view.address = memory.address();
  view.shape = {static_cast<std::int64_t>(memory.bytes() / sizeof(float))};
  view.strides = {sizeof(float)};
  return view;
}

TEST(WriteBack, SeesMemoryThatIsCopiedWhenItIsWritten) {
  constexpr std::size_t kPagesHere = 2;
  constexpr int kOpen = PROT_READ | PROT_WRITE;
  const int file = ::memfd_create("twice", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(kPagesHere * page())), 0);
  const Memory first(kPagesHere, kOpen, MAP_SHARED, file);
  const Memory second(kPagesHere, kOpen, MAP_SHARED, file);
  void* const memory = ::mmap(nullptr, first.bytes(), kOpen, MAP_PRIVATE, file, 0);
  ::close(file);
  const View source = view_of(first);
  View twin = view_of(second);
  View lazy = source;
  lazy.address = reinterpret_cast<std::uintptr_t>(memory);

  EXPECT_EQ(write_through(source, twin), Proof::yes);
  EXPECT_EQ(write_back(source, twin), Proof::yes);
  EXPECT_EQ(write_through(source, lazy), Proof::yes) << "not yet copied";
  EXPECT_EQ(write_back(source, lazy), Proof::no);
  EXPECT_EQ(write_through(source, lazy), Proof::no) << "the look has copied it";
  twin.readonly = true;
  EXPECT_EQ(write_back(source, twin), Proof::skipped);
  ::munmap(memory, first.bytes());
}

}  // namespace

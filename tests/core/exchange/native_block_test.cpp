// The memory of the native producer, whose deleters come from anywhere. Needs no Python.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "../../../producers/native/block.hpp"

namespace dlbench::native {
namespace {

Block::Owner some_block() {
  Layout layout;
  layout.dtype = find_dtype('f', 4);
  layout.shape = {16};
  return Block::blank(std::move(layout));
}

void release_managed(DLManagedTensorVersioned* managed) {
  managed->deleter(managed);
}

TEST(NativeBlock, LendsItsOwnSlotAgainOnlyWhenAllIsBack) {
  const Block::Owner block = some_block();
  DLManagedTensorVersioned* first = block->export_tensor(0);
  DLManagedTensorVersioned* second = block->export_tensor(0);
  EXPECT_NE(first, second);
  release_managed(first);
  DLManagedTensorVersioned* third = block->export_tensor(0);
  EXPECT_NE(third, first);
  release_managed(second);
  release_managed(third);
  DLManagedTensorVersioned* fourth = block->export_tensor(0);
  EXPECT_EQ(fourth, first);
  release_managed(fourth);
}

TEST(NativeBlock, CountsBeforeAndBehindTheCreatorsEnd) {
  const Block::Counts before = Block::counts();
  Block::Owner block = some_block();
  DLManagedTensorVersioned* early = block->export_tensor(0);
  DLManagedTensorVersioned* late = block->export_tensor(0);
  release_managed(early);
  EXPECT_EQ(Block::counts().exported - before.exported, 2U);
  EXPECT_EQ(Block::counts().deleted - before.deleted, 1U);
  block.reset();
  EXPECT_EQ(Block::counts().exported - before.exported, 2U);
  EXPECT_EQ(Block::counts().deleted - before.deleted, 1U);
  release_managed(late);
  EXPECT_EQ(Block::counts().deleted - before.deleted, 2U);
}

// The last owner deletes the block, and no owner may read it after its own release.
// AddressSanitizer finds a late read if a thread is preempted right there.
TEST(NativeBlock, IsDeletedOnceByWhoeverIsLast) {
  constexpr std::uint64_t kTimes = 1'000;
  constexpr int kLooks = 100'000;
  const Block::Counts before = Block::counts();
  std::array<DLManagedTensorVersioned*, 2> exported{};
  std::atomic<std::uint64_t> turn{0};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> threads;
  for (DLManagedTensorVersioned*& mine : exported) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 1; i <= kTimes; ++i) {
        // Awake where it can be, so that all come at once; not for long, where cores are few.
        for (int looks = 0; turn.load() < i; ++looks) {
          if (looks > kLooks) std::this_thread::yield();
        }
        release_managed(mine);
        ++done;
      }
    });
  }
  for (std::uint64_t i = 1; i <= kTimes; ++i) {
    Block::Owner block = some_block();
    for (DLManagedTensorVersioned*& managed : exported) managed = block->export_tensor(0);
    // Alternately the creator goes first, and with the others.
    if (i % 2 == 0) block.reset();
    turn = i;
    block.reset();
    while (done.load() < exported.size() * i) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Block::counts().exported - before.exported, exported.size() * kTimes);
  EXPECT_EQ(Block::counts().deleted - before.deleted, exported.size() * kTimes);
}

}  // namespace
}  // namespace dlbench::native

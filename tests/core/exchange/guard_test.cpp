#include "exchange/guard/guard.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "pages.hpp"

namespace {

using namespace dlbench::exchange;
using namespace dlbench::exchange::testing;

std::size_t at(Stage stage) {
  return static_cast<std::size_t>(stage);
}

TEST(Guard, SeesNothingWhereNothingIsTouched) {
  const Memory memory;
  Guard guard(memory.address(), memory.bytes());
  EXPECT_EQ(memory.protection(), PROT_NONE);
  guard.returned();
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.pages, kPages);
  EXPECT_EQ(observed.page_bytes, page());
  EXPECT_EQ(observed.all_read(), 0U);
  EXPECT_EQ(observed.all_written(), 0U);
  EXPECT_TRUE(observed.accessors.empty());
  EXPECT_TRUE(observed.complete);
  EXPECT_EQ(memory.protection(), PROT_READ | PROT_WRITE);
}

TEST(Guard, CountsEveryPageOnce) {
  const Memory memory;
  Guard guard(memory.address(), memory.bytes());
  read_all(memory);
  read_all(memory);
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.read[at(Stage::call)], kPages);
  EXPECT_EQ(observed.all_read(), kPages);
  EXPECT_EQ(observed.all_written(), 0U);
}

TEST(Guard, KeepsStagesApart) {
  const Memory memory;
  Guard guard(memory.address(), memory.bytes());
  (void)*memory.page_at(0);
  {
    const StageSpan producing(Stage::producer);
    (void)*memory.page_at(1);
    (void)*memory.page_at(2);
  }
  (void)*memory.page_at(3);
  guard.returned();
  for (std::size_t i = 0; i < 10; ++i) (void)*memory.page_at(i);
  guard.enter(Stage::release);
  *memory.page_at(0) = 1;
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.read, (PageCounts{2, 2, 6, 0, 0}));
  EXPECT_EQ(observed.written, (PageCounts{0, 0, 0, 0, 1}));
}

TEST(Guard, SeesWritesAlsoAfterReads) {
  const Memory memory;
  Guard guard(memory.address(), memory.bytes());
  (void)*memory.page_at(0);
  *memory.page_at(0) = 7;
  *memory.page_at(1) = 8;
  (void)*memory.page_at(1);
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.all_read(), 1U);
  EXPECT_EQ(observed.all_written(), 2U);
  EXPECT_EQ(observed.written_first, 1U);
  EXPECT_EQ(*memory.page_at(0), 7);
  EXPECT_EQ(*memory.page_at(1), 8);
}

TEST(Guard, TakesOnlyWholePages) {
  const Memory memory(4);
  EXPECT_EQ(Guard::whole_pages(memory.address() + 4, 4 * page() - 8), 2U);
  EXPECT_EQ(Guard::whole_pages(memory.address() + 4, page()), 0U);
  EXPECT_EQ(Guard::whole_pages(memory.address(), page()), 1U);
  Guard guard(memory.address() + 4, 4 * page() - 8);
  EXPECT_EQ(memory.protection(0), PROT_READ | PROT_WRITE);
  EXPECT_EQ(memory.protection(1), PROT_NONE);
  EXPECT_EQ(memory.protection(2), PROT_NONE);
  EXPECT_EQ(memory.protection(3), PROT_READ | PROT_WRITE);
  read_all(memory);
  EXPECT_EQ(guard.lift().all_read(), 2U);
}

TEST(Guard, SaysWhyItCannotLook) {
  const Memory memory(4);
  EXPECT_THROW(Guard(memory.address() + 1, page()), GuardError);
  EXPECT_THROW(Guard(0, 0), GuardError);
  const Memory closed(4, PROT_NONE);
  EXPECT_THROW(Guard(closed.address(), closed.bytes()), GuardError);
  EXPECT_EQ(closed.protection(), PROT_NONE);
  Guard guard(memory.address(), memory.bytes());
  EXPECT_THROW(Guard(memory.address(), memory.bytes()), GuardError);
  EXPECT_EQ(memory.protection(), PROT_NONE) << "the first one is still up";
}

TEST(Guard, RestoresWhatEachPartWas) {
  const Memory memory(6);
  ::mprotect(memory.start() + 2 * page(), 2 * page(), PROT_READ);
  {
    Guard guard(memory.address(), memory.bytes());
    read_all(memory);
    *memory.page_at(1) = 1;
    EXPECT_EQ(memory.protection(0), PROT_READ);
    EXPECT_EQ(memory.protection(1), PROT_READ | PROT_WRITE);
  }
  EXPECT_EQ(memory.protection(0), PROT_READ | PROT_WRITE);
  EXPECT_EQ(memory.protection(2), PROT_READ);
  EXPECT_EQ(memory.protection(3), PROT_READ);
  EXPECT_EQ(memory.protection(5), PROT_READ | PROT_WRITE);
}

TEST(Guard, LooksAtFilesToo) {
  char name[] = "/tmp/guard-XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(4 * page())), 0);
  const Memory shared(4, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  *shared.page_at(3) = 9;
  const int again = ::open(name, O_RDONLY);
  const Memory closed(4, PROT_READ, MAP_SHARED, again);
  ::unlink(name);
  ::close(file);
  ::close(again);
  {
    Guard guard(closed.address(), closed.bytes());
    EXPECT_EQ(*closed.page_at(3), 9);
    EXPECT_EQ(*shared.page_at(3), 9) << "another mapping of the same memory is not guarded";
    EXPECT_EQ(guard.lift().all_read(), 1U);
  }
  EXPECT_EQ(closed.protection(3), PROT_READ);
  Guard guard(shared.address(), shared.bytes());
  *shared.page_at(0) = 3;
  EXPECT_EQ(guard.lift().all_written(), 1U);
  EXPECT_EQ(*closed.page_at(0), 3);
}

TEST(Guard, ReadsThroughAnotherMappingAreNotSeen) {
  const int file = ::memfd_create("twice", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(8 * page())), 0);
  const Memory one(8, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  const Memory other(8, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  ::close(file);
  Guard guard(one.address(), one.bytes());
  read_all(other);
  EXPECT_EQ(guard.lift().all_read(), 0U);
}

TEST(Guard, LargeMemoryIsWatchedInGroupsOfPages) {
  constexpr std::size_t kMany = 3 * 256 + 5;
  const Memory memory(kMany);
  Guard guard(memory.address(), memory.bytes(), 256);
  read_all(memory);
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.page_bytes, 4 * page());
  EXPECT_EQ(observed.pages, (kMany + 3) / 4);
  EXPECT_EQ(observed.all_read(), observed.pages);
  EXPECT_TRUE(memory.is_one_mapping());
}

TEST(Guard, ManyThreadsMayFaultAtOnce) {
  constexpr std::size_t kMany = 512;
  for (int again = 0; again < 10; ++again) {
    const Memory memory(kMany);
    Guard guard(memory.address(), memory.bytes());
    std::atomic<int> waiting{8};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        for (std::size_t i = 0; i < kMany; ++i) {
          if (t % 2 == 0) {
            (void)*memory.page_at(i);
          } else if (i % 4 == 1) {
            *memory.page_at(i) = static_cast<unsigned char>(t);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const Observations observed = guard.lift();
    EXPECT_LE(observed.all_read(), kMany);
    EXPECT_GE(observed.all_read(), kMany - kMany / 4);
    EXPECT_EQ(observed.all_written(), kMany / 4);
    EXPECT_TRUE(observed.complete);
    EXPECT_TRUE(memory.is_one_mapping());
  }
}

TEST(Guard, LateReadersAreCountedAndNamedAsAnotherThread) {
  const Memory memory;
  Guard guard(memory.address(), memory.bytes());
  std::atomic<bool> may_go{false};
  std::thread reader([&] {
    (void)*memory.page_at(0);
    while (!may_go) std::this_thread::yield();
    read_all(memory);
  });
  while (memory.protection() == PROT_NONE) std::this_thread::yield();
  guard.returned();
  may_go = true;
  reader.join();
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.read[at(Stage::call)], 1U);
  EXPECT_EQ(observed.read[at(Stage::late)], kPages - 1);
  ASSERT_EQ(observed.accessors.size(), 1U);
  EXPECT_TRUE(observed.accessors[0].on_other_thread);
  EXPECT_EQ(observed.accessors[0].library, "exchange_tests");
}

/// Readers and writers never stop while guards begin and end: no access fails, and at the end the
/// protection is as before.
TEST(Guard, IsLiftedWhileOthersStillFault) {
  const Memory memory;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      while (!stop) {
        for (std::size_t i = 0; i < kPages; ++i) {
          if (t % 2 == 0) {
            (void)*memory.page_at(i);
          } else {
            *memory.page_at(i) = 1;
          }
        }
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    Guard guard(memory.address(), memory.bytes());
    if (i % 3 != 0) std::this_thread::yield();
    EXPECT_TRUE(guard.lift().complete);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(memory.is_one_mapping());
  EXPECT_EQ(memory.protection(), PROT_READ | PROT_WRITE);
}

TEST(Guard, ReadsByTheKernelFailAndAreNotCounted) {
  const Memory memory;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Guard guard(memory.address(), memory.bytes());
  errno = 0;
  EXPECT_EQ(::write(ends[1], memory.start(), 64), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(guard.lift().all_read(), 0U);
  EXPECT_EQ(::write(ends[1], memory.start(), 64), 64);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Guard, TheCallerOfLibcsCopyIsNamed) {
  const Memory memory;
  std::vector<unsigned char> copy(memory.bytes());
  Guard guard(memory.address(), memory.bytes());
  std::memcpy(copy.data(), memory.start(), memory.bytes());
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.all_read(), kPages);
  ASSERT_EQ(observed.accessors.size(), 1U);
  EXPECT_EQ(observed.accessors[0].library, "exchange_tests");
  EXPECT_FALSE(observed.accessors[0].on_other_thread);
}

}  // namespace

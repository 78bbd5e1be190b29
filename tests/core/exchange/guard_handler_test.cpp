#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>

#include "exchange/guard/guard.hpp"
#include "pages.hpp"

namespace {

using namespace dlbench::exchange;
using namespace dlbench::exchange::testing;

sigjmp_buf way_out;
volatile sig_atomic_t caught = 0;

void planted(int) {
  caught = caught + 1;
  ::siglongjmp(way_out, 1);
}

struct sigaction before_second {};

void planted_on_top(int number, siginfo_t* info, void* context) {
  caught = caught + 10;
  before_second.sa_sigaction(number, info, context);
}

void touch(volatile unsigned char* byte) {
  if (sigsetjmp(way_out, 1) == 0) *byte = 1;
}

/// Puts SIGSEGV's handler back at the end.
class Handler {
 public:
  explicit Handler(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  ~Handler() { ::sigaction(SIGSEGV, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

TEST(Guard, FaultsThatAreNotItsOwnGoToTheFormerHandler) {
  const Handler former(&planted);
  const Memory memory;
  const Memory closed(1, PROT_NONE);
  const Memory read_only(2, PROT_READ);
  volatile unsigned char* const unmapped = Memory(1).page_at(0);
  caught = 0;
  {
    Guard guard(memory.address(), memory.bytes());
    touch(closed.page_at(0));
    EXPECT_EQ(caught, 1) << "elsewhere";
    (void)*memory.page_at(0);
    touch(unmapped);
    EXPECT_EQ(caught, 2) << "unmapped";
    EXPECT_EQ(guard.lift().all_read(), 1U);
  }
  touch(closed.page_at(0));
  EXPECT_EQ(caught, 3) << "after it was lifted";
  Guard guard(read_only.address(), read_only.bytes());
  (void)*read_only.page_at(0);
  touch(read_only.page_at(0));
  touch(read_only.page_at(1));
  EXPECT_EQ(caught, 5) << "a write that would have failed without the guard";
  const Observations observed = guard.lift();
  EXPECT_EQ(observed.all_written(), 0U);
  EXPECT_EQ(read_only.protection(), PROT_READ);
  touch(read_only.page_at(1));
  EXPECT_EQ(caught, 6);
}

TEST(Guard, AHandlerPutOnTopThatHandsOnDoesNotGoRoundInACircle) {
  const Handler former(&planted);
  const Memory memory;
  const Memory closed(1, PROT_NONE);
  { Guard guard(memory.address(), memory.bytes()); }
  struct sigaction on_top {};
  on_top.sa_sigaction = &planted_on_top;
  on_top.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &on_top, &before_second);
  caught = 0;
  Guard guard(memory.address(), memory.bytes());
  read_all(memory);
  EXPECT_EQ(caught, 0);
  touch(closed.page_at(0));
  EXPECT_EQ(caught, 11) << "theirs, ours of before, the first one";
  EXPECT_EQ(guard.lift().all_read(), kPages);
}

TEST(GuardDeathTest, WithoutAFormerHandlerAForeignFaultStillKills) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Memory closed(1, PROT_NONE);
  const auto die = [&] {
    ::signal(SIGSEGV, SIG_DFL);
    const Memory memory;
    Guard guard(memory.address(), memory.bytes());
    *closed.page_at(0) = 1;
  };
  EXPECT_EXIT(die(), ::testing::KilledBySignal(SIGSEGV), "");
  const auto be_sent = [] {
    ::signal(SIGSEGV, SIG_DFL);
    const Memory memory;
    Guard guard(memory.address(), memory.bytes());
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(be_sent(), ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace

#include "supervisor/process/signals.hpp"

#include <gtest/gtest.h>

namespace dlbench::supervisor {
namespace {

TEST(Signals, AHangUpIsCaughtUnlessItWasIgnored) {
  const auto before = ::signal(SIGHUP, SIG_DFL);
  {
    const Signals signals;
    ::raise(SIGHUP);
    EXPECT_EQ(Signals::caught(), SIGHUP);
  }
  ::signal(SIGHUP, SIG_IGN);
  {
    const Signals signals;
    ::raise(SIGHUP);
    EXPECT_EQ(Signals::caught(), 0);
  }
  EXPECT_EQ(::signal(SIGHUP, before), SIG_IGN);
}

}  // namespace
}  // namespace dlbench::supervisor

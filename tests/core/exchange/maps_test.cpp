#include "exchange/guard/maps.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pages.hpp"

namespace {

using namespace dlbench::exchange;
using namespace dlbench::exchange::testing;

// A thread that blocks all signals, until its end.
class BlockingThread {
 public:
  explicit BlockingThread(const char* name) : thread_([this, name] { run(name); }) {
    while (!ready_) std::this_thread::yield();
  }
  BlockingThread(const BlockingThread&) = delete;
  BlockingThread& operator=(const BlockingThread&) = delete;
  ~BlockingThread() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run(const char* name) {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    ::pthread_setname_np(::pthread_self(), name);
    ready_ = true;
    while (!stop_) std::this_thread::yield();
  }

  std::atomic<bool> ready_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

bool is_kernel_since(int major, int minor) {
  utsname system{};
  int found[2] = {};
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", found, found + 1) != 2) {
    return false;
  }
  return std::pair(found[0], found[1]) >= std::pair(major, minor);
}

TEST(Maps, SaysWhichThreadsBlockASignal) {
  const int before = threads_blocking(SIGSEGV);
  const BlockingThread blocking("pool");
  EXPECT_EQ(threads_blocking(SIGSEGV), before + 1);
}

// Apache Arrow's import starts one, and no exchange of the process would be guarded.
TEST(Maps, JemallocsThreadsReadNoArray) {
  const int before = threads_blocking(SIGSEGV);
  const BlockingThread purging("jemalloc_bg_thd");
  EXPECT_EQ(threads_blocking(SIGSEGV), before);
}

// The C library blocks its signals, on a busy machine for milliseconds.
TEST(Maps, AThreadThatStartsOrEndsIsNotCounted) {
  const int before = threads_blocking(SIGSEGV);
  for (int i = 0; i < 200; ++i) {
    const std::jthread starting([] {});
    ASSERT_EQ(threads_blocking(SIGSEGV), before);
  }
}

TEST(Maps, TheKernelsAnswerIsThatOfTheText) {
  if (!is_kernel_since(6, 11)) GTEST_SKIP() << "the kernel answers by the text only";
  const Memory memory;
  ASSERT_EQ(::mprotect(reinterpret_cast<void*>(memory.address() + page()), page(), PROT_READ), 0);
  const auto as_text = [](const std::vector<Mapping>& mappings) {
    std::ostringstream text;
    for (const Mapping& one : mappings) {
      text << std::hex << one.begin << '-' << one.end << ' ' << one.protection << '\n';
    }
    return text.str();
  };
  const auto code = reinterpret_cast<std::uintptr_t>(&mappings_of);
  const std::uintptr_t last = std::numeric_limits<std::uintptr_t>::max();
  for (const auto& [begin, end] : std::vector<std::pair<std::uintptr_t, std::uintptr_t>>{
           {memory.address() - 4 * page(), memory.address() + memory.bytes() + 4 * page()},
           {memory.address() + 8, memory.address() + 16},
           {code, code + 1},
           {0, page()},
           {last - page(), last}}) {
    EXPECT_EQ(as_text(mappings_of(begin, end)), as_text(mappings_in_text(begin, end)))
        << std::hex << begin << '-' << end;
  }
  EXPECT_EQ(mappings_of(memory.address(), memory.address() + 3 * page()).size(), 3U);
  ASSERT_EQ(::mprotect(reinterpret_cast<void*>(memory.address() + page()), page(),
                       PROT_READ | PROT_WRITE),
            0);
}

}  // namespace

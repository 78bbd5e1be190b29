// Every function of a driver that a table uses fails once, each in a process of its own: kernels
// and contexts are made once a process.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "device/about.hpp"
#include "device/backends.hpp"
#include "device/vendors/cuda.hpp"
#include "device/vendors/hip.hpp"
#include "fakes.hpp"

namespace dlbench::device {
namespace {

constexpr Code planted = 719;

/// All that a table can do, until something fails; what was made is given back either way.
class Use {
 public:
  explicit Use(const Table& table) : table_(table) {}

  /// The first error; 0: none.
  Code all() {
    Code first = 0;
    for (const auto& step : steps()) {
      if (first == 0) first = step();
    }
    const Code last = clean();
    return first != 0 ? first : last;
  }

 private:
  std::vector<std::function<Code()>> steps() {
    const Table& t = table_;
    return {
        [&] { return t.device_count(&count_); },
        [&] { return t.enter(0); },
        [&] { return t.current(&now_); },
        [&] { return t.make_current(now_); },
        [&] { return t.stream_create(&stream_, non_blocking); },
        [&] { return t.event_create(&begin_, 0); },
        [&] { return t.event_create(&end_, 0); },
        [&] { return t.allocate(&word_, sizeof(unsigned)); },
        [&] { return t.allocate_pinned(&pinned_, sizeof(unsigned)); },
        [&] { return t.allocate_managed(&managed_, 2 * sizeof(std::int64_t)); },
        [&] { return t.memory_of(&kind_, &ordinal_, word_); },
        [&] { return t.memory_info(&free_, &total_); },
        [&] { return t.cache_bytes(&cache_); },
        [&] { return t.fill32(word_, 1, 1, stream_); },
        [&] { return t.event_record(begin_, stream_); },
        [&] { return t.delay(stream_, 1000, managed_, word_, 2); },
        [&] { return t.event_record(end_, stream_); },
        [&] { return t.stream_wait(stream_, end_, 0); },
        [&] { return t.copy(reinterpret_cast<std::uintptr_t>(pinned_), word_, 4, stream_); },
        [&] { return t.stream_synchronize(stream_); },
        [&] { return t.event_synchronize(end_); },
        [&] { return t.stream_query(stream_); },
        [&] { return t.event_query(end_); },
        [&] { return t.event_elapsed(&ms_, begin_, end_); },
        [&] { return t.synchronize(); },
        [&] { return t.context_flags(&flags_); },
        [&] { return t.capture_begin(stream_, capture_global); },
        [&] { return t.capture_status(stream_, &status_); },
        [&] { return t.capture_end(stream_, &graph_); },
        [&] { return t.graph_nodes(graph_, nullptr, &nodes_); },
    };
  }

  Code clean() {
    Code first = 0;
    const auto kept = [&first](Code code) { first = first != 0 ? first : code; };
    if (graph_ != nullptr) kept(table_.graph_destroy(graph_));
    if (stream_ != nullptr) kept(table_.stream_destroy(stream_));
    if (begin_ != nullptr) kept(table_.event_destroy(begin_));
    if (end_ != nullptr) kept(table_.event_destroy(end_));
    if (word_ != 0) kept(table_.free(word_));
    if (managed_ != 0) kept(table_.free(managed_));
    if (pinned_ != nullptr) kept(table_.free_pinned(pinned_));
    return first;
  }

  const Table& table_;
  int count_ = 0;
  std::size_t free_ = 0, total_ = 0, cache_ = 0, nodes_ = 0;
  int status_ = 0;
  unsigned flags_ = 0;
  Graph graph_ = nullptr;
  Current now_ = nullptr;
  Stream stream_ = nullptr;
  Event begin_ = nullptr, end_ = nullptr;
  Address word_ = 0, managed_ = 0;
  void* pinned_ = nullptr;
  Memory kind_{};
  int ordinal_ = 0;
  float ms_ = 0;
};

struct Driver {
  const char* backend;
  const char* library;
};

/// Ends the process: 0 where the planted error came back as such, or was never met.
[[noreturn]] void meet(const Driver& driver, const std::string& name) {
  alarm(20);  // a hang is a failure
  const Fake fake(driver.library);
  if (!fake) std::_Exit(2);
  fake.fail((name + "=" + std::to_string(planted)).c_str());
  const Backend& opened = *backend(driver.backend);
  std::string message = opened.detail;
  if (opened.state == State::Ok) {
    const About reported = about(driver.backend);
    const Code code = Use(*opened.table).all();
    if (code != 0) message = line(*opened.table, name, code);
    if (reported.units.size() != 1) std::_Exit(3);
    const Unit& unit = reported.units.front();
    if (unit.name.empty() || unit.uuid.empty() || unit.mode.empty()) message += " not told";
  }
  std::fprintf(stderr, "%s called %s: <%s>\n", name.c_str(),
               fake.calls(name.c_str()) > 0 ? "yes" : "no", message.c_str());
  std::_Exit(0);  // what could not be given back is no leak worth a word
}

TEST(FaultsDeathTest, OfTheCudaDriver) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  constexpr Driver driver{"cuda", "libcuda.so.1"};
  cuda::Api api;
  cuda::each(api, [&](const std::string& name, auto&) {
    // Names are queried to report an error; and the version is only reported.
    const char* message =
        name == "cuGetErrorName"       ? "no: <>"
        : name == "cuDriverGetVersion" ? "yes: <>"
        : name.starts_with("cuDeviceGet") && name != "cuDeviceGet" && name != "cuDeviceGetCount"
            ? "yes: .*not told"
            : "yes: .*CUDA_ERROR_LAUNCH_FAILED \\(719\\)";
    EXPECT_EXIT(meet(driver, name), testing::ExitedWithCode(0), name + " called " + message);
  });
  EXPECT_EXIT(meet(driver, "cuGetProcAddress"), testing::ExitedWithCode(0), "\\(719\\)");
}

TEST(FaultsDeathTest, OfTheHipRuntime) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  constexpr Driver driver{"rocm", "libamdhip64.so.6"};
  hip::Api api;
  hip::each(api, [&](const std::string& name, auto&) {
    const char* message = name == "hipGetErrorName" || name == "hipGetLastError" ? "no: <>"
                          : name == "hipDeviceGetName" || name == "hipDeviceGetUuid"
                              ? "yes: .*not told"
                              : "yes: .*hipErrorLaunchFailure \\(719\\)";
    EXPECT_EXIT(meet(driver, name), testing::ExitedWithCode(0), name + " called " + message);
  });
}

TEST(FaultsDeathTest, OfTheHipCompiler) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  hip::Compiler compiler;
  hip::each(compiler, [&](const std::string& name, auto&) {
    // The log is read where the compiler fails, and errors are named for a reason.
    if (name == "hiprtcGetErrorString" || name.starts_with("hiprtcGetProgramLog")) return;
    EXPECT_EXIT(meet({"rocm", "libhiprtc.so.6"}, name), testing::ExitedWithCode(0),
                name + " called yes: .*hipErrorInvalidSource, no delay kernel for gfx942.*: " +
                    name + ": HIPRTC_ERROR_INTERNAL_ERROR \\(719\\).* \\(300\\)");
  });
}

}  // namespace
}  // namespace dlbench::device

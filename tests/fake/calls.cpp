#include "calls.hpp"

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

namespace dlbench::fake {

namespace {

struct Fault {
  Code code = 0;
  unsigned from = 1;
};

class Calls {
 public:
  Calls() { fail(std::getenv("DLBENCH_FAKE_FAIL")); }

  void fail(const char* faults) {
    const std::lock_guard lock(mutex_);
    faults_.clear();
    counts_.clear();
    std::string rest = faults == nullptr ? "" : faults;
    while (!rest.empty()) {
      const std::string one = rest.substr(0, rest.find(','));
      rest.erase(0, one.size() + 1);
      const auto equals = one.find('=');
      const auto at = one.find('@');
      if (equals == std::string::npos) continue;
      Fault fault{std::atoi(one.c_str() + equals + 1), 1};
      if (at != std::string::npos)
        fault.from = static_cast<unsigned>(std::atoi(one.c_str() + at + 1));
      faults_[one.substr(0, equals)] = fault;
    }
  }

  Code called(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const unsigned count = ++counts_[name];
    for (const std::string& key : {name, std::string("*")}) {
      const auto found = faults_.find(key);
      if (found != faults_.end() && count >= found->second.from) return found->second.code;
    }
    return 0;
  }

  unsigned count(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Fault> faults_;
  std::map<std::string, unsigned> counts_;
};

// As a driver tells CUPTI; a fake one, where a test has put it into the process.
void report_to_cupti(const char* name) {
  void* cupti = ::dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (cupti == nullptr) return;
  const auto named = reinterpret_cast<void (*)(const char*)>(::dlsym(cupti, "fake_cupti_named"));
  if (named != nullptr) named(name);
  ::dlclose(cupti);
}

Calls& calls() {
  static Calls& only = *new Calls;  // outlives callers at exit
  return only;
}

// As where a device falls off the bus.
Code lost(const std::string& name) {
  constexpr Code no_device = 100, unknown = 999;
  static std::atomic<int> count = 0;
  const char* const planted = std::getenv("DLBENCH_FAKE_LOST");
  if (planted == nullptr) return 0;
  const std::string text = planted;
  const std::filesystem::path path = text.substr(0, text.find('@'));
  if (++count == std::atoi(text.c_str() + text.find('@') + 1)) std::ofstream{path};
  if (!std::filesystem::exists(path)) return 0;
  const bool counts = name == "cuInit" || name == "hipInit" || name.ends_with("GetDeviceCount");
  return counts ? no_device : unknown;
}

// As where another process gets the core.
void be_late(const std::string& name) {
  const char* const late = std::getenv("DLBENCH_FAKE_LATE");
  if (late == nullptr || name + "@" + std::to_string(calls().count(name)) != late) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

}  // namespace

Code called(const char* name) {
  report_to_cupti(name);
  if (logging()) std::fprintf(stderr, "[fake] %s\n", name);
  const Code gone = lost(name);
  const Code code = gone != 0 ? gone : calls().called(name);
  if (code < 0) raise(-code);
  be_late(name);
  return code;
}

int mode(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

int all_devices() {
  return mode("DLBENCH_FAKE_DEVICES", 1);
}

int visible_devices(const char* variable, int all) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return all;
  const char* const instance = std::getenv("DLBENCH_FAKE_INSTANCE");
  std::istringstream words(text);
  int visible = 0;
  // Devices behind a name that the driver does not know are hidden too.
  for (std::string word; std::getline(words, word, ','); ++visible) {
    if (instance != nullptr && word == instance) continue;
    const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
    if (word.empty() || !is_number || std::stoi(word) >= all) break;
  }
  return visible;
}

int compute_mode() {
  return mode("DLBENCH_FAKE_MODE", 0);
}

int cache_bytes() {
  return mode("DLBENCH_FAKE_CACHE_MB", 0) << 20;
}

bool logging() {
  static const bool on = mode("DLBENCH_FAKE_LOG", 0) != 0;
  return on;
}

}  // namespace dlbench::fake

void dlbench_fake_fail(const char* faults) {
  dlbench::fake::calls().fail(faults);
}

unsigned dlbench_fake_calls(const char* name) {
  return dlbench::fake::calls().count(name);
}

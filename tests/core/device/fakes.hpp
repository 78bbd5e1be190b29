#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace dlbench::device {

/// The controls of a fake library while it lives; afterwards nothing fails again.
class Fake {
 public:
  explicit Fake(const char* soname) : handle_(dlopen(soname, RTLD_NOW)) {
    if (handle_ == nullptr) return;
    fail = reinterpret_cast<decltype(fail)>(dlsym(handle_, "dlbench_fake_fail"));
    calls = reinterpret_cast<decltype(calls)>(dlsym(handle_, "dlbench_fake_calls"));
  }
  ~Fake() {
    if (*this) fail(nullptr);
  }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;
  /// False also for a vendor's own library.
  explicit operator bool() const { return fail != nullptr && calls != nullptr; }

  void (*fail)(const char* faults) = nullptr;
  unsigned (*calls)(const char* name) = nullptr;

 private:
  void* handle_;
};

/// A mode of the fake devices while it lives (tests/fake/calls.hpp).
class Mode {
 public:
  Mode(const char* variable, const char* value) : variable_(variable) {
    setenv(variable, value, 1);
  }
  ~Mode() { unsetenv(variable_); }
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;

 private:
  const char* variable_;
};

}  // namespace dlbench::device

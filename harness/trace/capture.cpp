#include "trace/capture.hpp"

#include <dlfcn.h>

namespace dlbench::trace {

// The driver stays loaded: who brought it holds it. With no context current it refuses, which is
// no loss.
Capture::Capture() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return;
  const auto start = reinterpret_cast<int (*)()>(::dlsym(driver, "cuProfilerStart"));
  const auto stop = reinterpret_cast<int (*)()>(::dlsym(driver, "cuProfilerStop"));
  ::dlclose(driver);
  if (start != nullptr && stop != nullptr && start() == 0) stop_ = stop;
}

Capture::~Capture() {
  if (stop_ != nullptr) stop_();
}

}  // namespace dlbench::trace

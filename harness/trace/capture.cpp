#include "trace/capture.hpp"

#include <dlfcn.h>

namespace dlbench::trace {

// The driver stays loaded: the library that loaded it holds it. Without a current context the
// driver returns an error, which does no harm.
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

#include "trace/capture.hpp"

#include <dlfcn.h>

namespace dlbench::trace {

// A measured library keeps the driver loaded. Without a current context the driver returns an
// error, which is ignored.
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

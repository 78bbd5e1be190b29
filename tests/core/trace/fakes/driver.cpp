// A CUDA driver that does nothing but tell the fake CUPTI, where one is loaded, what was called.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void reported(std::uint32_t id, const char* name) {
  void* cupti = ::dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (cupti == nullptr) return;
  const auto called =
      reinterpret_cast<void (*)(std::uint32_t, const char*)>(::dlsym(cupti, "fake_cupti_called"));
  if (called != nullptr) called(id, name);
  ::dlclose(cupti);
}

}  // namespace

#define DLBENCH_API_CALL(kind, name, id)                         \
  extern "C" __attribute__((visibility("default"))) int name() { \
    reported(id, #name);                                         \
    return 0;                                                    \
  }
#include "trace/api_calls.def"
#undef DLBENCH_API_CALL

// Of no kind that is counted.
extern "C" __attribute__((visibility("default"))) int cuCtxGetDevice() {
  reported(15, "cuCtxGetDevice");
  return 0;
}

// Says in $DLBENCH_DRIVER_LOG which part of a process a profiler is to look at.
namespace {
int wrote(const char* line) {
  const char* path = std::getenv("DLBENCH_DRIVER_LOG");
  std::FILE* out = path == nullptr ? nullptr : std::fopen(path, "a");
  if (out == nullptr) return 0;
  std::fprintf(out, "%s\n", line);
  return std::fclose(out);
}
}  // namespace
extern "C" __attribute__((visibility("default"))) int cuProfilerStart() {
  return wrote("start");
}
extern "C" __attribute__((visibility("default"))) int cuProfilerStop() {
  return wrote("stop");
}

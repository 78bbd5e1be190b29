#include "trace/roctx.hpp"

#include <dlfcn.h>

#include <array>

namespace dlbench::trace::roctx {
namespace {

// The library of rocprofiler-sdk, then that of roctracer before it.
constexpr std::array<const char*, 2> kLibraries{"librocprofiler-sdk-roctx.so", "libroctx64.so.4"};

struct Library {
  std::string name;
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
};

const Library& library() {
  static const Library loaded = [] {
    for (const char* name : kLibraries) {
      void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
      if (handle == nullptr) continue;
      Library found{name,
                    reinterpret_cast<int (*)(const char*)>(::dlsym(handle, "roctxRangePushA")),
                    reinterpret_cast<int (*)()>(::dlsym(handle, "roctxRangePop"))};
      if (found.push != nullptr && found.pop != nullptr) return found;
    }
    return Library{};
  }();
  return loaded;
}

}  // namespace

const std::string& open() {
  if (!library().name.empty()) detail::open.fetch_or(detail::kRoctx, std::memory_order_relaxed);
  return library().name;
}

std::string message(const Name& name, std::uint64_t bytes) {
  return "dlbench:" + name.text() + " bytes=" + std::to_string(bytes);
}

void push(const Name& name, std::uint64_t bytes) {
  library().push(message(name, bytes).c_str());
}

void pop() {
  library().pop();
}

}  // namespace dlbench::trace::roctx

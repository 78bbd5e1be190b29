#include "trace/roctx.hpp"

#include <dlfcn.h>

#include <array>

namespace dlbench::trace::roctx {
namespace {

// The library of rocprofiler-sdk, then that of the older roctracer. The versioned names come first,
// because a plain .so is installed for development only.
constexpr std::array<const char*, 5> kLibraries{
    "librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.0", "librocprofiler-sdk-roctx.so",
    "libroctx64.so.4", "libroctx64.so"};

struct Library {
  std::string name;
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
};

Library load(const char* name, int flags) {
  void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
  if (handle == nullptr) return {};
  Library found{name, reinterpret_cast<int (*)(const char*)>(::dlsym(handle, "roctxRangePushA")),
                reinterpret_cast<int (*)()>(::dlsym(handle, "roctxRangePop"))};
  return found.push != nullptr && found.pop != nullptr ? found : Library{};
}

// A tool such as rocprofv3 loads its library before the program starts and receives nothing from
// another one, so prefer a library that is loaded.
const Library& library() {
  static const Library loaded = [] {
    for (const int flags : {RTLD_NOLOAD, 0}) {
      for (const char* name : kLibraries) {
        Library found = load(name, flags);
        if (!found.name.empty()) return found;
      }
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

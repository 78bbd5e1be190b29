#include "worker/library/process_state.hpp"

#include <link.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <cfloat>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dlbench::worker {
namespace {

/// Builds a dict of texts.
class Facts {
 public:
  void add(const std::string& name, const std::string& value) {
    const Ref text = checked(
        PyUnicode_DecodeFSDefaultAndSize(value.data(), static_cast<Py_ssize_t>(value.size())));
    const Ref key = checked(
        PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    if (PyDict_SetItem(dict_.get(), key.get(), text.get()) != 0) throw fetch_failure();
  }
  PyObject* dict() const { return dict_.get(); }

 private:
  Ref dict_ = checked(PyDict_New());
};

std::string address_text(std::uintptr_t address) {
  return std::to_string(address);
}

Facts signals() {
  Facts facts;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) != 0) continue;
    // The two handlers are members of a union.
    std::uintptr_t handler = 0;
    std::memcpy(&handler, &now.sa_handler, sizeof handler);
    facts.add(std::to_string(number), address_text(handler));
  }
  return facts;
}

Facts environment() {
  Facts facts;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view variable(*each);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::size_t digest = std::hash<std::string_view>{}(variable.substr(equals + 1));
    facts.add(std::string(variable.substr(0, equals)), std::to_string(digest));
  }
  return facts;
}

Facts allocators() {
  Facts facts;
  const auto add = [&](const char* name, PyMemAllocatorDomain domain) {
    PyMemAllocatorEx now{};
    PyMem_GetAllocator(domain, &now);
    std::uintptr_t function = 0;
    std::memcpy(&function, &now.malloc, sizeof function);
    facts.add(name, address_text(function));
  };
  add("Python's raw memory", PYMEM_DOMAIN_RAW);
  add("Python's memory", PYMEM_DOMAIN_MEM);
  add("Python's objects", PYMEM_DOMAIN_OBJ);
  return facts;
}

Facts arithmetic() {
  Facts facts;
  const volatile double smallest = DBL_MIN;
  const volatile double half = smallest / 2;
  facts.add("denormal numbers", half == 0 ? "are flushed to 0" : "are kept");
  switch (std::fegetround()) {
    case FE_TONEAREST:
      facts.add("rounding", "is to the nearest");
      break;
    case FE_TOWARDZERO:
      facts.add("rounding", "is towards 0");
      break;
    default:
      facts.add("rounding", "is up or down");
  }
  return facts;
}

constexpr std::array<std::string_view, 10> kPools{
    "libgomp",     "libomp",    "libiomp5", "libtbb.",  "libtbb-",
    "libopenblas", "libmkl_rt", "libblis",  "libhwloc", "libscipy_openblas"};

bool holds_thread_pool(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view pool : kPools) {
    if (file.starts_with(pool)) return true;
  }
  return false;
}

Facts thread_pools() {
  std::vector<std::string> paths;
  // The loader holds a lock and is written in C, so the callback uses no Python and throws no
  // exception.
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) noexcept {
        if (object->dlpi_name != nullptr && holds_thread_pool(object->dlpi_name)) {
          static_cast<std::vector<std::string>*>(data)->emplace_back(object->dlpi_name);
        }
        return 0;
      },
      &paths);
  Facts facts;
  for (const std::string& path : paths) facts.add(path, "");
  return facts;
}

}  // namespace

Ref process_state() {
  Ref state = checked(PyDict_New());
  const auto put = [&](const char* kind, const Facts& facts) {
    if (PyDict_SetItemString(state.get(), kind, facts.dict()) != 0) throw fetch_failure();
  };
  put("signals", signals());
  put("environment", environment());
  put("allocators", allocators());
  put("arithmetic", arithmetic());
  put("thread-pools", thread_pools());
  return state;
}

}  // namespace dlbench::worker

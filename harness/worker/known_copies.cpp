#include "worker/known_copies.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "model/places.hpp"
#include "worker/arrays/arrays.hpp"
#include "worker/arrays/read.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {
namespace {

constexpr std::size_t kBytes = 4096;

/// cudaMemcpy; its prototype is the same in all versions of the runtime.
using CudaMemcpy = int (*)(void* to, const void* from, std::size_t, int kind);
constexpr int kDeviceToDevice = 3;  // cudaMemcpyDeviceToDevice

std::set<std::string> loaded_runtimes() {
  std::set<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        // Wheels rename the library that they contain, for example to libcudart-1a2b3c4d.so.12.
        if (path.substr(path.rfind('/') + 1).starts_with("libcudart")) {
          static_cast<std::set<std::string>*>(found)->insert(path);
        }
        return 0;
      },
      &paths);
  return paths;
}

/// Why the counts cannot be used; empty if the copy was counted.
std::string unobserved(trace::ApiTrace& trace, const std::string& through,
                       const std::function<int()>& copy) {
  trace.clear();
  int code = 0;
  {
    const trace::ApiTrace::Span span(trace, trace::Category::worker);
    code = copy();
  }
  if (code != 0) {
    return "a known copy through " + through + " failed (" + std::to_string(code) + ")";
  }
  const auto memcpy = static_cast<std::size_t>(trace::ApiKind::memcpy);
  if (trace.counted(trace::Category::worker)[memcpy] > 0) return "";
  return "CUPTI did not report a known copy through " + through;
}

std::string unobserved_of_runtime(trace::ApiTrace& trace, const std::string& path, void* to,
                                  const void* from) {
  void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return "";
  const auto copy = reinterpret_cast<CudaMemcpy>(::dlsym(library, "cudaMemcpy"));
  std::string why;
  if (copy != nullptr) {
    why = unobserved(trace, path, [&] { return copy(to, from, kBytes, kDeviceToDevice); });
  }
  ::dlclose(library);
  return why;
}

/// Does filling such an array need a driver call? The host can write pinned and managed memory
/// itself. Memory of an unknown kind needs one.
bool is_out_of_reach(PyObject* array, const Exchange& exchange, const Library& library) try {
  const DeviceAt at = device_named(source_of(exchange));
  const device::Address address = read_place(array, library).view.address;
  const std::optional<MemoryAt> memory = memory_at(at, address);
  return !memory || memory->kind == device::Memory::Device;
} catch (const Failure&) {
  return true;
} catch (const exchange::ViewError&) {
  return true;
}

void* pointer(device::Address address) {
  return reinterpret_cast<void*>(
      static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

std::string find_unobserved_copy(trace::ApiTrace& trace, const Exchange& exchange) {
  try {
    // An exchange of the CPU may use CUDA too.
    const std::string devices[] = {source_of(exchange), target_of(exchange), "cuda:0"};
    const DeviceAt at = device_named(
        *std::find_if(std::begin(devices), std::end(devices),
                      [](const std::string& device) { return kind_of_device(device) == "cuda"; }));
    const device::Table& table = *at.table;
    const InDevice inside(at);
    settle(at);
    device::OwnMemory to(table), from(table);
    require(table, "memory", to.create(kBytes));
    require(table, "memory", from.create(kBytes));
    std::string why = unobserved(trace, "the driver",
                                 [&] { return table.copy(to.get(), from.get(), kBytes, nullptr); });
    for (const std::string& path : loaded_runtimes()) {
      if (!why.empty()) break;
      why = unobserved_of_runtime(trace, path, pointer(to.get()), pointer(from.get()));
    }
    settle(at);
    trace.clear();
    return why;
  } catch (const Failure& failure) {
    return "the counts cannot be checked with a known copy: " + failure.reason;
  }
}

std::string find_unobserved_calls(trace::ApiTrace& trace, const Exchange& exchange,
                                  const Library& library, const Ref& make_case) {
  if (!source_of(exchange).starts_with("cuda:") || exchange.bytes == 0) return "";
  trace.clear();
  try {
    const Ref array = [&] {
      const trace::ApiTrace::Span span(trace, trace::Category::worker);
      return make_array(exchange, library, make_case);
    }();
    const trace::ApiCounts calls = trace.counted(trace::Category::worker);
    trace.clear();
    using Kind = trace::ApiKind;
    for (const Kind kind : {Kind::memcpy, Kind::memset, Kind::alloc, Kind::launch}) {
      if (calls[static_cast<std::size_t>(kind)] > 0) return "";
    }
    if (!is_out_of_reach(array.get(), exchange, library)) return "";
  } catch (const Failure&) {
    return "";  // the cells report that failure
  }
  return "CUPTI reported no call while " + exchange.producer + " made an array on " +
         source_of(exchange) + "; the library may contain its own CUDA runtime";
}

}  // namespace dlbench::worker

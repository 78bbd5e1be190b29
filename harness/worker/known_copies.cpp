#include "worker/known_copies.hpp"

#include <dlfcn.h>
#include <link.h>

#include <functional>
#include <set>

#include "worker/devices.hpp"

namespace dlbench::worker {
namespace {

constexpr std::size_t kBytes = 4096;

/// cudaMemcpy: the prototype has been the same since the runtime's first version.
using CudaMemcpy = int (*)(void* to, const void* from, std::size_t, int kind);
constexpr int kDeviceToDevice = 3;  // cudaMemcpyDeviceToDevice

std::set<std::string> loaded_runtimes() {
  std::set<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (path.find("libcudart.so") != std::string::npos) {
          static_cast<std::set<std::string>*>(found)->insert(path);
        }
        return 0;
      },
      &paths);
  return paths;
}

/// Memory of the device while it lives.
class Memory {
 public:
  explicit Memory(const device::Table& table) : table_(table) {
    require(table, "memory", table.allocate(&at_, kBytes));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { table_.free(at_); }
  device::Address at() const { return at_; }

 private:
  const device::Table& table_;
  device::Address at_ = 0;
};

/// Nothing where the copy was counted.
std::string unseen(trace::ApiTrace& trace, const std::string& through,
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

std::string unseen_of_runtime(trace::ApiTrace& trace, const std::string& path, void* to,
                              const void* from) {
  void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return "";
  const auto copy = reinterpret_cast<CudaMemcpy>(::dlsym(library, "cudaMemcpy"));
  std::string why;
  if (copy != nullptr) {
    why = unseen(trace, path, [&] { return copy(to, from, kBytes, kDeviceToDevice); });
  }
  ::dlclose(library);
  return why;
}

void* pointer(device::Address address) {
  return reinterpret_cast<void*>(
      static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

std::string find_unseen_copy(trace::ApiTrace& trace) {
  try {
    const DeviceAt at = device_named("cuda:0");
    const device::Table& table = *at.table;
    settle(at);
    const Memory to(table), from(table);
    std::string why = unseen(trace, "the driver",
                             [&] { return table.copy(to.at(), from.at(), kBytes, nullptr); });
    for (const std::string& path : loaded_runtimes()) {
      if (!why.empty()) break;
      why = unseen_of_runtime(trace, path, pointer(to.at()), pointer(from.at()));
    }
    settle(at);
    trace.clear();
    return why;
  } catch (const Failure& failure) {
    return "no known copy to check the counts with: " + failure.reason;
  }
}

}  // namespace dlbench::worker

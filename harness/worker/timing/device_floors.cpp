#include "worker/timing/device_floors.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace dlbench::worker {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kPage = 4096;

/// Measures the time between two events on the default stream.
class Between {
 public:
  explicit Between(const DeviceAt& at) : at_(at), begin_(*at.table), end_(*at.table) {
    require(*at_.table, "event", begin_.create(0U));
    require(*at_.table, "event", end_.create(0U));
  }

  /// A delay before the events keeps the stream busy until the copy is submitted.
  double ns(const std::function<device::Code()>& copy) {
    constexpr std::int64_t kHoldNs = 1'000'000;
    const device::Table& table = *at_.table;
    settle(at_);
    require(table, "delay", table.delay(nullptr, kHoldNs, 0, 0, 0));
    require(table, "event record", table.event_record(begin_.get(), nullptr));
    require(table, "copy", copy());
    require(table, "event record", table.event_record(end_.get(), nullptr));
    settle(at_);
    float milliseconds = 0;
    require(table, "event elapsed", table.event_elapsed(&milliseconds, begin_.get(), end_.get()));
    return static_cast<double>(milliseconds) * 1e6;
  }

 private:
  const DeviceAt& at_;
  device::OwnEvent begin_, end_;
};

// Memory that the kernel can provide without swapping: includes its page cache, unlike free memory.
std::size_t host_available() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kib = 0; meminfo >> name >> kib; std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kib << 10;
  }
  return 0;
}

// The scheduling flag of the context: CU_CTX_SCHED_MASK, in HIP hipDeviceScheduleMask.
std::string host_waits(const device::Table& table) {
  unsigned flags = 0;
  if (table.context_flags == nullptr || table.context_flags(&flags) != 0) return {};
  constexpr unsigned kMask = 7;
  switch (flags & kMask) {
    case 0:
      return "auto";
    case 1:
      return "spin";
    case 2:
      return "yield";
    case 4:
      return "blocking-sync";
    default:
      return "unknown: " + std::to_string(flags & kMask);
  }
}

}  // namespace

std::size_t copy_block_bytes(std::size_t device_free, std::size_t host_free) {
  // Two blocks on the device and two on the host, each pair in a quarter of the free memory.
  const std::size_t bytes = std::min({kMostBytes, device_free / 8, host_free / 8});
  return bytes / kPage * kPage;
}

DeviceCopyFloors device_copy_floors(const std::string& device, const DeviceAt& at,
                                    const std::vector<std::uint64_t>& sizes) {
  const device::Table& table = *at.table;
  const InDevice inside(at);
  settle(at);
  std::size_t free = 0, total = 0, cache = 0;
  require(table, "memory", table.memory_info(&free, &total));
  require(table, "cache", table.cache_bytes(&cache));
  const std::size_t bytes = copy_block_bytes(free, host_available());
  DeviceCopyFloors floors;
  floors.bytes = bytes;
  floors.host_waits = host_waits(table);
  if (bytes == 0) return floors;

  device::OwnMemory here(table), other(table);
  require(table, "memory", here.create(bytes));
  require(table, "memory", other.create(bytes));
  device::OwnPinned pinned(table);
  // If pinned memory cannot be allocated, its rates are left out.
  if (table.dl_pinned != 0) static_cast<void>(pinned.create(bytes));
  const std::vector<unsigned char> pageable(bytes, 1);
  Between events(at);
  const auto add = [&](const std::string& name, std::size_t size, device::Address to,
                       device::Address from) {
    constexpr int kCopies = 5;
    double best = 0;
    for (int i = 0; i < kCopies; ++i) {
      const double ns = events.ns([&] { return table.copy(to, from, size, nullptr); });
      if (ns > 0) best = std::max(best, static_cast<double>(size) / ns);
    }
    if (best > 0) floors.gb_per_s[name] = best;
  };
  const std::string to_device = "cpu+" + device, to_host = device + "+cpu";
  const auto add_all = [&](const std::string& end, std::size_t size) {
    if (2 * size > cache) add(device + end, size, other.get(), here.get());
    for (const auto& [kind, host] : {std::pair{" pageable", number(pageable.data())},
                                     std::pair{" pinned", number(pinned.get())}}) {
      if (host == 0) continue;
      add(to_device + kind + end, size, here.get(), host);
      add(to_host + kind + end, size, host, here.get());
    }
  };
  add_all("", bytes);
  for (const std::uint64_t size : sizes) {
    if (size > 0 && size <= bytes) add_all(std::string(" ").append(std::to_string(size)), size);
  }
  return floors;
}

}  // namespace dlbench::worker

#include "worker/device_floors.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace dlbench::worker {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr std::size_t kPage = 4096;

/// Memory of a device, or the host's that is pinned for it; 0 where there is none.
class Room {
 public:
  Room(const device::Table& table, bool pinned, std::size_t bytes)
      : table_(table), pinned_(pinned) {
    if (pinned) {
      void* host = nullptr;
      if (table.dl_pinned != 0 && table.allocate_pinned(&host, bytes) == 0) at_ = number(host);
    } else {
      require(table, "memory", table.allocate(&at_, bytes));
    }
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (at_ == 0) return;
    if (pinned_) {
      table_.free_pinned(reinterpret_cast<void*>(static_cast<std::uintptr_t>(at_)));
    } else {
      table_.free(at_);
    }
  }
  device::Address at() const { return at_; }

 private:
  const device::Table& table_;
  bool pinned_;
  device::Address at_ = 0;
};

/// Two events on the default stream, and the time between them.
class Between {
 public:
  explicit Between(const DeviceAt& at) : at_(at), table_(*at.table) {
    require(table_, "event", table_.event_create(&begin_, 0));
    require(table_, "event", table_.event_create(&end_, 0));
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;
  ~Between() {
    if (begin_ != nullptr) table_.event_destroy(begin_);
    if (end_ != nullptr) table_.event_destroy(end_);
  }

  /// A delay before them holds the stream until the copy is on it.
  double ns(const std::function<device::Code()>& copy) {
    constexpr std::int64_t kHoldNs = 1'000'000;
    settle(at_);
    require(table_, "delay", table_.delay(nullptr, kHoldNs, 0, 0, 0));
    require(table_, "event record", table_.event_record(begin_, nullptr));
    require(table_, "copy", copy());
    require(table_, "event record", table_.event_record(end_, nullptr));
    settle(at_);
    float milliseconds = 0;
    require(table_, "event elapsed", table_.event_elapsed(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds) * 1e6;
  }

 private:
  const DeviceAt& at_;
  const device::Table& table_;
  device::Event begin_ = nullptr, end_ = nullptr;
};

// What the kernel can give without swapping: its page cache counts, as free memory alone would not.
std::size_t host_available() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kib = 0; meminfo >> name >> kib; std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kib << 10;
  }
  return 0;
}

}  // namespace

std::size_t copy_block_bytes(std::size_t device_free, std::size_t host_free) {
  // Two blocks on the device, and two on the host, in a quarter each.
  const std::size_t bytes = std::min({kMostBytes, device_free / 8, host_free / 8});
  return bytes / kPage * kPage;
}

DeviceCopyFloors device_copy_floors(const std::string& device, const DeviceAt& at) {
  const device::Table& table = *at.table;
  settle(at);
  std::size_t free = 0, total = 0, cache = 0;
  require(table, "memory", table.memory_info(&free, &total));
  require(table, "cache", table.cache_bytes(&cache));
  const std::size_t bytes = copy_block_bytes(free, host_available());
  DeviceCopyFloors floors;
  floors.bytes = bytes;
  if (bytes == 0) return floors;

  const Room here(table, false, bytes), other(table, false, bytes), pinned(table, true, bytes);
  const std::vector<unsigned char> pageable(bytes, 1);
  Between events(at);
  const auto add = [&](const std::string& name, device::Address to, device::Address from) {
    constexpr int kCopies = 5;
    double best = 0;
    for (int i = 0; i < kCopies; ++i) {
      const double ns = events.ns([&] { return table.copy(to, from, bytes, nullptr); });
      if (ns > 0) best = std::max(best, static_cast<double>(bytes) / ns);
    }
    if (best > 0) floors.gb_per_s[name] = best;
  };
  if (2 * bytes > cache) add(device, other.at(), here.at());
  for (const auto& [kind, host] :
       {std::pair{" pageable", number(pageable.data())}, std::pair{" pinned", pinned.at()}}) {
    if (host == 0) continue;
    add("cpu+" + device + kind, here.at(), host);
    add(device + "+cpu" + kind, host, here.at());
  }
  return floors;
}

}  // namespace dlbench::worker

#include "worker/device_floors.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace dlbench::worker {
namespace {

constexpr std::size_t kBytes = 32 << 20;

/// Memory of a device, or the host's that is pinned for it; 0 where there is none.
class Room {
 public:
  Room(const device::Table& table, bool pinned) : table_(table), pinned_(pinned) {
    if (pinned) {
      void* host = nullptr;
      if (table.dl_pinned != 0 && table.allocate_pinned(&host, kBytes) == 0) at_ = number(host);
    } else {
      require(table, "memory", table.allocate(&at_, kBytes));
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

double best_rate(const DeviceAt& at, device::Address to, device::Address from) {
  constexpr int kCopies = 5;
  const device::Table& table = *at.table;
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    settle(at);
    const auto begin = std::chrono::steady_clock::now();
    require(table, "copy", table.copy(to, from, kBytes, nullptr));
    require(table, "synchronize", table.stream_synchronize(nullptr));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(kBytes) / took.count());
  }
  return best;
}

}  // namespace

std::map<std::string, double> device_copy_floors(const std::string& device, const DeviceAt& at) {
  settle(at);
  const Room here(*at.table, false), other(*at.table, false), pinned(*at.table, true);
  const std::vector<unsigned char> pageable(kBytes, 1);
  std::map<std::string, double> floors{{device, best_rate(at, other.at(), here.at())}};
  const auto add = [&](const char* kind, device::Address host) {
    floors["cpu+" + device + " " + kind] = best_rate(at, here.at(), host);
    floors[device + "+cpu " + kind] = best_rate(at, host, here.at());
  };
  add("pageable", number(pageable.data()));
  if (pinned.at() != 0) add("pinned", pinned.at());
  return floors;
}

}  // namespace dlbench::worker

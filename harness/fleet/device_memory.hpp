#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace dlbench::fleet {

/// The memory that the live workers use on each device, which bounds the number of workers. A
/// context alone takes hundreds of megabytes, which a worker cannot measure itself: its use is the
/// free memory before it minus the free memory after it.
class DeviceMemory {
 public:
  /// Adds a worker that has its context and its arrays and reports the free memory. Returns the
  /// amount that it uses, to be passed to `release`. A worker that is alone on a device counts with
  /// all memory that is not free, including that of other programs, so that too few workers are
  /// started rather than too many.
  std::uint64_t add(const std::string& device, std::uint64_t free, std::uint64_t total);
  /// Adds a worker that could not report the memory of the device. Its workers are then not
  /// bounded.
  void add_unknown(const std::string& device);
  void release(const std::string& device, std::uint64_t taken);

  /// Does the memory suffice for `more` additional workers, each as large as the largest so far? It
  /// suffices for one on a device that no worker has used.
  bool has_room(const std::string& device, std::size_t more) const;

  /// Did a lone worker leave no room for another one? Returns true only once for each device,
  /// because it is reported once.
  bool is_found_full(const std::string& device);

 private:
  struct Known {
    std::uint64_t free = 0;
    std::uint64_t largest = 0;
    bool is_guess = true;  ///< `largest` is the amount of a worker that was alone
    std::size_t living = 0;
    bool is_found_full = false;
  };
  std::map<std::string, Known> devices_;
};

}  // namespace dlbench::fleet

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace dlbench::supervisor {

/// The memory that the live workers use on each device, which bounds the number of workers. The use
/// of a worker is the free memory before it minus the free memory after it, because a worker cannot
/// measure the hundreds of megabytes of its context.
class DeviceMemory {
 public:
  /// Adds a worker that has its context and its arrays and reports the free memory, in bytes.
  /// Returns the amount that it uses, to be passed to `release`. For the only worker on a device
  /// this is all used memory, including other programs', so that rather too few workers are
  /// started.
  std::uint64_t add(const std::string& device, std::uint64_t free, std::uint64_t total);
  /// Adds a worker that could not report the memory of the device. Its workers are then unlimited.
  void add_unknown(const std::string& device);
  void release(const std::string& device, std::uint64_t taken);

  /// Does the memory suffice for `more` additional workers, each as large as the largest so far?
  /// True for one worker on an unused device.
  bool has_room(const std::string& device, std::size_t more) const;

  /// Did the first worker on the device leave no room for another one? Returns true only once for
  /// each device, because it is reported once.
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

}  // namespace dlbench::supervisor

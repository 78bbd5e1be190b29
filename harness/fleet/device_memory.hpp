#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace dlbench::fleet {

/// How much of each device's memory the living workers take, so that no more of them live than fit.
/// A context alone takes hundreds of megabytes, which no worker can see of its own: what one took
/// is what was free before it less what is free after it.
class DeviceMemory {
 public:
  /// A worker has its context and its arrays now, and reports what is free. Returns what it took,
  /// which is given back by `release`. A worker that is alone on a device is taken to have all that
  /// is not free: also what other programs hold, so that too few workers live rather than too many.
  std::uint64_t add(const std::string& device, std::uint64_t free, std::uint64_t total);
  /// A worker that used it could not report it: nothing bounds its workers.
  void add_unknown(const std::string& device);
  void release(const std::string& device, std::uint64_t taken);

  /// Is there room for so many more workers, each as large as the largest so far? There is room for
  /// one on a device that no worker has used.
  bool has_room(const std::string& device, std::size_t more) const;

  /// Is there no room beside a worker that is alone? True once a device, since it is reported once.
  bool is_found_full(const std::string& device);

 private:
  struct Known {
    std::uint64_t free = 0;
    std::uint64_t largest = 0;
    bool is_guess = true;  ///< `largest` is that of a worker that was alone
    std::size_t living = 0;
    bool is_found_full = false;
  };
  std::map<std::string, Known> devices_;
};

}  // namespace dlbench::fleet

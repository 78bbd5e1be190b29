#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/owners.hpp"
#include "device/shared.hpp"
#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One device of this machine.
struct DeviceAt {
  const device::Table* table = nullptr;  ///< null: dlbench has no table for it
  int ordinal = 0;

  explicit operator bool() const { return table != nullptr; }
};

/// Finds a device by dlbench's name ("cuda:0"). Empty for the CPU and for kinds without a table.
/// Throws Failure no-device with the backend's message if the kind has a table but this machine
/// lacks the device.
DeviceAt device_named(const std::string& word);

/// Throws Failure no-device or out-of-memory with the driver's error if this process cannot use the
/// device ("cuda: context: CUDA_ERROR_DEVICE_UNAVAILABLE (46)").
void require_context(const std::string& word);
DeviceAt device_at(const exchange::Device& where);

/// The files of drivers and runtimes that the process has loaded, by kind of device.
std::map<std::string, std::vector<std::string>> runtimes_by_kind();

/// A host pointer as an address for the table's functions.
inline device::Address number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// A kind of memory and its device.
struct MemoryAt {
  device::Memory kind = device::Memory::Pageable;
  int ordinal = 0;
};

/// The memory of an address as the device's driver reports it; empty if the driver fails.
std::optional<MemoryAt> memory_at(const DeviceAt& at, device::Address address);

/// The device of an address as the driver reports it; otherwise CUDA's first device.
exchange::Device device_of_address(std::uintptr_t address);

/// Throws Failure refused, "cuda: copy: out of memory (2)", unless `code` is 0.
void require(const device::Table& table, const char* what, device::Code code);

/// Makes a device current for this thread until the end of its scope, because some libraries export
/// only from the current device. Does nothing for an empty `at`.
class InDevice {
 public:
  /// Throws Failure.
  explicit InDevice(const DeviceAt& at);

 private:
  std::optional<device::Entered> entered_;
};

/// Waits for all work on the device, without the GIL. Throws Failure.
void settle(const DeviceAt& at);

/// Makes the default `ready(array)` of a library, which waits for its stream on the device, or for
/// the whole device if the stream is unknown. `stream` is an int or null.
Ref wait_on_device(const DeviceAt& at, PyObject* stream);

}  // namespace dlbench::worker

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/owners.hpp"
#include "device/shared.hpp"
#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One device of this machine, for the worker's instruments.
struct DeviceAt {
  const device::Table* table = nullptr;  ///< null: dlbench has no table for it
  int ordinal = 0;

  explicit operator bool() const { return table != nullptr; }
};

/// Finds a device by dlbench's name ("cuda:0"), or by a view. Empty for the CPU and for kinds
/// without a table. Throws Failure no-device, with the backend's message, where the kind has a
/// table and this machine no such device.
DeviceAt device_named(const std::string& word);

/// Throws Failure no-device or out-of-memory, with the driver's error, where no process can use
/// that device ("cuda: context: CUDA_ERROR_DEVICE_UNAVAILABLE (46)").
void require_context(const std::string& word);
DeviceAt device_at(const exchange::Device& where);

/// A host pointer as the table's functions expect it.
inline device::Address number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// The device of an address that only a driver knows; CUDA's first device where no driver does.
exchange::Device device_of_address(std::uintptr_t address);

/// Throws Failure refused, "cuda: copy: out of memory (2)", unless `code` is 0.
void require(const device::Table& table, const char* what, device::Code code);

/// Makes a device current for this thread, and restores the former one at the end of its scope:
/// libraries export from their current device only, and keep one for a whole process. Does nothing
/// for an empty `at`.
class InDevice {
 public:
  /// Throws Failure.
  explicit InDevice(const DeviceAt& at);

 private:
  std::optional<device::Entered> entered_;
};

/// Waits for all work on the device, without the GIL. Throws Failure.
void settle(const DeviceAt& at);

/// The default `ready(array)` of a library: waits for its own stream on the device, or for the
/// whole device where the stream is unknown. `stream` is an int or null.
Ref wait_on_device(const DeviceAt& at, PyObject* stream);

}  // namespace dlbench::worker

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/owners.hpp"
#include "device/shared.hpp"
#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One device of this machine, as the worker's instruments use it.
struct DeviceAt {
  const device::Table* table = nullptr;  ///< null: dlbench has none for it
  int ordinal = 0;

  explicit operator bool() const { return table != nullptr; }
};

/// By dlbench's word ("cuda:0"), or where a view lies. Empty for the CPU and for kinds without a
/// table. Throws Failure no-device, with what the backend says, where the kind has one and this
/// machine no such device.
DeviceAt device_named(const std::string& word);

/// Throws Failure no-device or out-of-memory, with the driver's word, where the device named so
/// lets no process in ("cuda: context: CUDA_ERROR_DEVICE_UNAVAILABLE (46)").
void require_context(const std::string& word);
DeviceAt device_at(const exchange::Device& where);

/// A host pointer as the table's functions take it.
inline device::Address number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Where an address lies that only a driver can place; CUDA's first device where none knows it.
exchange::Device device_of_address(std::uintptr_t address);

/// Throws Failure refused, "cuda: copy: out of memory (2)", unless `code` is 0.
void require(const device::Table& table, const char* what, device::Code code);

/// Makes a device current for this thread while it lives, then what was current before: libraries
/// export from their current device only, and keep one for a whole process. Nothing for an empty
/// `at`.
class InDevice {
 public:
  /// Throws Failure.
  explicit InDevice(const DeviceAt& at);

 private:
  std::optional<device::Entered> entered_;
};

/// Waits for all that was put on it, without the GIL. Throws Failure.
void settle(const DeviceAt& at);

/// What `ready(array)` of a library is where it has none: waits for its own stream there, or for
/// the whole device where nothing tells of one. `stream` is an int or null.
Ref wait_on_device(const DeviceAt& at, PyObject* stream);

}  // namespace dlbench::worker

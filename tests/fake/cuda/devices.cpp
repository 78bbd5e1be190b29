#include <atomic>
#include <cstdio>
#include <cstring>

#include "cuda/entries.hpp"
#include "gpu/ledger.hpp"

namespace dlbench::fake::cuda {

namespace {

std::atomic<bool> initialized{false};

Code init(unsigned) {
  if (visible_devices() == 0) return 100;
  initialized = true;
  return 0;
}

Code driver_get_version(int* version) {
  *version = driver_version();
  return 0;
}

Code get_count(int* count) {
  *count = visible_devices();
  return 0;
}

Code get(int* device, int number) {
  if (number < 0 || number >= visible_devices()) return invalid_device;
  *device = number;
  return 0;
}

Code get_name(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "Device made of threads");
  return 0;
}

Code get_uuid(unsigned char* bytes, int device) {
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(16 * i + device);
  return 0;
}

Code total_mem(std::size_t* bytes, int) {
  *bytes = total_memory();
  return 0;
}

Code compute_capability(int* major, int* minor, int) {
  *major = 9;
  *minor = 0;
  return 0;
}

Code pci_bus_id(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
  return 0;
}

/// The attributes of cuda.h that a library requests of this device; the rest is 0.
Code get_attribute(int* value, int attribute, int) {
  switch (attribute) {
    case 1:  // MAX_THREADS_PER_BLOCK
    case 2:  // MAX_BLOCK_DIM_X
      *value = 1024;
      break;
    case 10:  // WARP_SIZE
      *value = 32;
      break;
    case 16:  // MULTIPROCESSOR_COUNT
      *value = 2;
      break;
    case 19:   // CAN_MAP_HOST_MEMORY
    case 41:   // UNIFIED_ADDRESSING
    case 83:   // MANAGED_MEMORY
    case 115:  // MEMORY_POOLS_SUPPORTED
      *value = 1;
      break;
    case 20:  // COMPUTE_MODE
      *value = compute_mode();
      break;
    case 38:  // L2_CACHE_SIZE
      *value = cache_bytes();
      break;
    case 75:  // COMPUTE_CAPABILITY_MAJOR
      *value = 9;
      break;
    default:
      *value = 0;
  }
  return 0;
}

}  // namespace

int driver_version() {
  return mode("DLBENCH_FAKE_DRIVER", 13000);
}

Code check(Needs needs) {
  if (needs == Needs::Nothing) return 0;
  if (!initialized) return not_initialized;
  if (needs == Needs::Init) return 0;
  if (current() == nullptr) return invalid_context;
  return is_open(current()) ? 0 : context_destroyed;
}

std::vector<Entry> device_entries() {
  return {
      entry<"cuInit", init, Needs::Nothing>(2000),
      entry<"cuDriverGetVersion", driver_get_version, Needs::Nothing>(2020),
      entry<"cuDeviceGetCount", get_count, Needs::Init>(2000),
      entry<"cuDeviceGet", get, Needs::Init>(2000),
      entry<"cuDeviceGetName", get_name, Needs::Init>(2000),
      entry<"cuDeviceGetUuid", get_uuid, Needs::Init>(9020),
      entry<"cuDeviceTotalMem", total_mem, Needs::Init>(3020),
      entry<"cuDeviceComputeCapability", compute_capability, Needs::Init>(2000),
      entry<"cuDeviceGetPCIBusId", pci_bus_id, Needs::Init>(4010),
      entry<"cuDeviceGetAttribute", get_attribute, Needs::Init>(2000),
  };
}

}  // namespace dlbench::fake::cuda

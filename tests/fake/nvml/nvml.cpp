// NVML's counters, as variables set them: DLBENCH_FAKE_BUSY=85 percent of each device, and
// DLBENCH_FAKE_PROCESSES=2 on it. The devices have the UUIDs of the fake driver's. With
// DLBENCH_FAKE_MIG=1 each has one part, which has that UUID, and the device itself another one.
#include <cstdio>
#include <cstring>

#include "calls.hpp"

namespace {

using dlbench::fake::called;
using dlbench::fake::mode;

constexpr int kInsufficientSize = 7;

struct Utilization {
  unsigned gpu, memory;
};

// Handles are the devices' numbers, from 1, and for the part of a device 100 more.
constexpr std::size_t kPart = 100;

std::size_t number_of(void* device) {
  return reinterpret_cast<std::size_t>(device) - 1;
}

int write(const char* name, unsigned* to, unsigned value) {
  *to = value;
  return called(name);
}

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};

}  // namespace

DLBENCH_FAKE_EXPORT int nvmlInit_v2() {
  return called("nvmlInit_v2");
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(dlbench::fake::all_devices());
  return called("nvmlDeviceGetCount_v2");
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(index) + 1);
  return called("nvmlDeviceGetHandleByIndex_v2");
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  unsigned char bytes[16];
  for (std::size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<unsigned char>(16 * i + number_of(device) % kPart);
  }
  const bool is_part = number_of(device) >= kPart;
  if (mode("DLBENCH_FAKE_MIG", 0) != 0 && !is_part) bytes[0] = 0xff;
  std::size_t used =
      static_cast<std::size_t>(std::snprintf(text, length, is_part ? "MIG-" : "GPU-"));
  for (std::size_t i = 0; i < 16; ++i) {
    const char* gap = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    used += static_cast<std::size_t>(
        std::snprintf(text + used, length - used, "%s%02x", gap, bytes[i]));
  }
  return called("nvmlDeviceGetUUID");
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetUtilizationRates(void*, Utilization* rates) {
  rates->gpu = static_cast<unsigned>(mode("DLBENCH_FAKE_BUSY", 0));
  rates->memory = 0;
  return called("nvmlDeviceGetUtilizationRates");
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  const unsigned running = static_cast<unsigned>(mode("DLBENCH_FAKE_PROCESSES", 0));
  const bool fits = running <= *count;
  *count = running;
  const int code = called("nvmlDeviceGetComputeRunningProcesses_v3");
  if (code != 0) return code;
  return fits ? 0 : kInsufficientSize;
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  return write("nvmlDeviceGetClockInfo", mhz, type == 1 ? 345 : 1593);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* mhz) {
  return write("nvmlDeviceGetMaxClockInfo", mhz, type == 1 ? 1980 : 2619);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetPowerManagementLimit(void*, unsigned* milliwatts) {
  return write("nvmlDeviceGetPowerManagementLimit", milliwatts, 700'000);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetPersistenceMode(void*, unsigned* on) {
  return write("nvmlDeviceGetPersistenceMode", on, 0);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetEccMode(void*, unsigned* now, unsigned* pending) {
  *pending = 0;
  return write("nvmlDeviceGetEccMode", now, 1);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* pending) {
  *pending = 0;
  return write("nvmlDeviceGetMigMode", now, mode("DLBENCH_FAKE_MIG", 0) != 0 ? 1 : 0);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  return write("nvmlDeviceGetMaxMigDeviceCount", count, mode("DLBENCH_FAKE_MIG", 0) != 0 ? 7 : 0);
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index,
                                                            void** part) {
  constexpr int kNotFound = 6;
  *part = reinterpret_cast<void*>(reinterpret_cast<std::size_t>(device) + kPart);
  return index == 0 ? called("nvmlDeviceGetMigDeviceHandleByIndex") : kNotFound;
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  *pci = {};
  pci->bus = static_cast<unsigned>(number_of(device) % kPart) + 1;
  return called("nvmlDeviceGetPciInfo_v3");
}

DLBENCH_FAKE_EXPORT int nvmlDeviceGetP2PStatus(void*, void*, int, unsigned* status) {
  return write("nvmlDeviceGetP2PStatus", status, 0);
}

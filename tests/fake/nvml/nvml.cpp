// NVML's counters, as variables set them: DLBENCH_FAKE_BUSY=85 percent of each device, and
// DLBENCH_FAKE_PROCESSES=2 on it. The devices have the UUIDs of the fake driver's.
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

// Handles are the devices' numbers, from 1.
std::size_t number_of(void* device) {
  return reinterpret_cast<std::size_t>(device) - 1;
}

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
    bytes[i] = static_cast<unsigned char>(16 * i + number_of(device));
  }
  std::size_t used = static_cast<std::size_t>(std::snprintf(text, length, "GPU-"));
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

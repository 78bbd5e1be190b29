#include <cstdio>
#include <cstring>

#include "device/vendors/hip_api.hpp"
#include "gpu/kernels.hpp"
#include "hip/runtime.hpp"

namespace dlbench::fake::hip {

namespace {

struct Error {
  Code code;
  const char* name;
};

constexpr Error errors[] = {
    {0, "hipSuccess"},
    {invalid_value, "hipErrorInvalidValue"},
    {2, "hipErrorOutOfMemory"},
    {3, "hipErrorNotInitialized"},
    {35, "hipErrorInsufficientDriver"},
    {no_device, "hipErrorNoDevice"},
    {invalid_device, "hipErrorInvalidDevice"},
    {no_binary_for_gpu, "hipErrorNoBinaryForGpu"},
    {300, "hipErrorInvalidSource"},
    {304, "hipErrorOperatingSystem"},
    {invalid_handle, "hipErrorInvalidHandle"},
    {illegal_state, "hipErrorIllegalState"},
    {not_found, "hipErrorNotFound"},
    {600, "hipErrorNotReady"},
    {709, "hipErrorContextIsDestroyed"},
    {700, "hipErrorIllegalAddress"},
    {719, "hipErrorLaunchFailure"},
    {801, "hipErrorNotSupported"},
    {stream_capture_unsupported, "hipErrorStreamCaptureUnsupported"},
    {stream_capture_invalidated, "hipErrorStreamCaptureInvalidated"},
    {stream_capture_merge, "hipErrorStreamCaptureMerge"},
    {stream_capture_unmatched, "hipErrorStreamCaptureUnmatched"},
    {stream_capture_unjoined, "hipErrorStreamCaptureUnjoined"},
    {stream_capture_isolation, "hipErrorStreamCaptureIsolation"},
    {stream_capture_implicit, "hipErrorStreamCaptureImplicit"},
    {captured_event, "hipErrorCapturedEvent"},
    {stream_capture_wrong_thread, "hipErrorStreamCaptureWrongThread"},
};

thread_local Code last = 0;
thread_local int current_device = 0;

}  // namespace

Code enter() {
  Context* context = primary(current_device);
  if (context == nullptr) {
    if (const Code code = retain_primary(&context, current_device)) return code;
  }
  contexts() = {context};
  return 0;
}

Code kept(Code code) {
  if (code != 0 && code != device::not_ready) last = code;
  return code;
}

}  // namespace dlbench::fake::hip

namespace dlbench::fake {

const Vendor vendor{4, "GPU_MAX_HW_QUEUES", true, 709, 304, not_found};

}  // namespace dlbench::fake

using namespace dlbench::fake;
using hip::run_without_context;

DLBENCH_FAKE_EXPORT const char* hipGetErrorName(Code code) {
  for (const hip::Error& error : hip::errors) {
    if (error.code == code) return error.name;
  }
  return "hipErrorUnknown";
}

DLBENCH_FAKE_EXPORT Code hipGetLastError() {
  const Code code = called(__func__);
  const Code was = hip::last;
  hip::last = 0;
  return code != 0 ? code : was;
}

DLBENCH_FAKE_EXPORT Code hipRuntimeGetVersion(int* version) {
  *version = 60'443'483;
  return hip::kept(called(__func__));
}

DLBENCH_FAKE_EXPORT Code hipGetDeviceCount(int* count) {
  *count = 0;
  return run_without_context(__func__, [&] {
    *count = hip::visible_devices();
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipSetDevice(int device) {
  return run_without_context(__func__, [&] {
    if (device < 0 || device >= hip::visible_devices()) return hip::invalid_device;
    hip::current_device = device;
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipGetDeviceFlags(unsigned* flags) {
  return run_without_context(__func__, [&] {
    *flags = 0;
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipGetDevice(int* device) {
  return run_without_context(__func__, [&] {
    *device = hip::current_device;
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipDeviceGetName(char* name, int length, int) {
  return run_without_context(__func__, [&] {
    std::snprintf(name, static_cast<std::size_t>(length), "Device made of threads");
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipDeviceGetUuid(unsigned char* bytes, int device) {
  return run_without_context(__func__, [&] {
    // As AMD's runtime does it: the 16 characters of a serial number.
    char text[17];
    std::snprintf(text, sizeof text, "%016x", 0xfa4e + device);
    for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(text[i]);
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipDeviceGetAttribute(int* value, int attribute, int) {
  return run_without_context(__func__, [&] {
    *value = attribute == dlbench::device::hip::compute_mode      ? compute_mode()
             : attribute == dlbench::device::hip::wall_clock_rate ? 1'000'000
             : attribute == dlbench::device::hip::l2_cache_size   ? cache_bytes()
                                                                  : 0;
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipGetDevicePropertiesR0600(char* properties, int) {
  return run_without_context(__func__, [&] {
    // hipDeviceProp_t of HIP 6 and 7: its size and where name and gcnArchName stand. Numbers and
    // addresses that stand in the rest are any bytes.
    constexpr std::size_t size = 1472, arch_at = 1160;
    std::memset(properties, 0x5A, size);
    std::snprintf(properties, 256, "Device made of threads");
    std::snprintf(properties + arch_at, 256, "%s", hip::arch);
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipDeviceSynchronize() {
  return hip::forward(__func__, synchronize);
}

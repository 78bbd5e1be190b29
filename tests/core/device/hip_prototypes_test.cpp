// dlbench's prototypes and numbers against HIP's headers, where these are installed.
#include <gtest/gtest.h>

#include "device/vendors/hip_api.hpp"
#include "same_abi.hpp"

#ifdef DLBENCH_HIP_HEADERS
#define __HIP_PLATFORM_AMD__ 1
// The C functions alone: templates of the same names would make their addresses ambiguous.
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#include <hip/hiprtc.h>

namespace dlbench::device::hip {
namespace {

int checked = 0;

#define SAME(table, member, function)                                                       \
  static_assert(SameAbi<decltype(table::member), decltype(&(function))>::value, #function); \
  ++checked

TEST(HipPrototypes, AreThoseOfTheHeader) {
  checked = 0;
  SAME(Api, runtime_get_version, hipRuntimeGetVersion);
  SAME(Api, get_error_name, hipGetErrorName);
  SAME(Api, get_last_error, hipGetLastError);
  SAME(Api, get_device_count, hipGetDeviceCount);
  SAME(Api, set_device, hipSetDevice);
  SAME(Api, get_device, hipGetDevice);
  SAME(Api, device_get_name, hipDeviceGetName);
  SAME(Api, device_get_uuid, hipDeviceGetUuid);
  SAME(Api, device_get_attribute, hipDeviceGetAttribute);
  SAME(Api, get_device_properties, hipGetDeviceProperties);
  SAME(Api, device_synchronize, hipDeviceSynchronize);
  SAME(Api, get_device_flags, hipGetDeviceFlags);
  SAME(Api, stream_create_with_flags, hipStreamCreateWithFlags);
  SAME(Api, stream_destroy, hipStreamDestroy);
  SAME(Api, stream_synchronize, hipStreamSynchronize);
  SAME(Api, stream_query, hipStreamQuery);
  SAME(Api, stream_wait_event, hipStreamWaitEvent);
  SAME(Api, stream_begin_capture, hipStreamBeginCapture);
  SAME(Api, stream_end_capture, hipStreamEndCapture);
  SAME(Api, stream_is_capturing, hipStreamIsCapturing);
  SAME(Api, graph_get_nodes, hipGraphGetNodes);
  SAME(Api, graph_destroy, hipGraphDestroy);
  SAME(Api, event_create_with_flags, hipEventCreateWithFlags);
  SAME(Api, event_destroy, hipEventDestroy);
  SAME(Api, event_record, hipEventRecord);
  SAME(Api, event_query, hipEventQuery);
  SAME(Api, event_synchronize, hipEventSynchronize);
  SAME(Api, event_elapsed_time, hipEventElapsedTime);
  SAME(Api, mem_get_info, hipMemGetInfo);
  SAME(Api, malloc, hipMalloc);
  SAME(Api, free, hipFree);
  SAME(Api, host_malloc, hipHostMalloc);
  SAME(Api, host_free, hipHostFree);
  SAME(Api, malloc_managed, hipMallocManaged);
  SAME(Api, memcpy_async, hipMemcpyAsync);
  SAME(Api, memset_d32_async, hipMemsetD32Async);
  SAME(Api, pointer_get_attribute, hipPointerGetAttribute);
  SAME(Api, module_load_data, hipModuleLoadData);
  SAME(Api, module_get_function, hipModuleGetFunction);
  SAME(Api, module_launch_kernel, hipModuleLaunchKernel);
  SAME(Compiler, get_error_string, hiprtcGetErrorString);
  SAME(Compiler, create_program, hiprtcCreateProgram);
  SAME(Compiler, compile_program, hiprtcCompileProgram);
  SAME(Compiler, get_program_log_size, hiprtcGetProgramLogSize);
  SAME(Compiler, get_program_log, hiprtcGetProgramLog);
  SAME(Compiler, get_code_size, hiprtcGetCodeSize);
  SAME(Compiler, get_code, hiprtcGetCode);
  SAME(Compiler, destroy_program, hiprtcDestroyProgram);

  Api api;
  Compiler compiler;
  int all = 0;
  const auto count = [&all](const char*, auto&) { ++all; };
  each(api, count);
  each(compiler, count);
  EXPECT_EQ(checked, all);
}

TEST(HipPrototypes, TheNumbersToo) {
  static_assert(non_blocking == hipStreamNonBlocking);
  static_assert(no_timing == hipEventDisableTiming);
  static_assert(not_ready == hipErrorNotReady);
  static_assert(compute_mode == hipDeviceAttributeComputeMode);
  static_assert(l2_cache_size == hipDeviceAttributeL2CacheSize);
  static_assert(memory_type == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE);
  static_assert(device_ordinal == HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  static_assert(is_managed == HIP_POINTER_ATTRIBUTE_IS_MANAGED);
  static_assert(copy_default == hipMemcpyDefault);
  static_assert(portable == hipHostMallocPortable);
  static_assert(mapped == hipHostMallocMapped);
  static_assert(coherent == hipHostMallocCoherent);
  static_assert(attach_global == hipMemAttachGlobal);
  static_assert(hipMemoryTypeHost == (HIP_VERSION_MAJOR < 6 ? 0 : 1));
  static_assert(hipMemoryTypeDevice == (HIP_VERSION_MAJOR < 6 ? 1 : 2));
#if HIP_VERSION >= 50'300'000
  static_assert(wall_clock_rate == hipDeviceAttributeWallClockRate);
#else
  static_assert(wall_clock_rate == hipDeviceAttributeFineGrainSupport + 1);
#endif
  SUCCEED();
}

}  // namespace
}  // namespace dlbench::device::hip

#else

TEST(HipPrototypes, AreThoseOfTheHeader) {
  GTEST_SKIP() << "no hip/hip_runtime_api.h here (Debian: libamdhip64-dev)";
}

#endif

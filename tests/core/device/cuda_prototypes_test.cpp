// dlbench's prototypes and numbers against cuda.h, where that is installed.
#include <gtest/gtest.h>

#include "device/vendors/cuda_api.hpp"
#include "same_abi.hpp"

#ifdef DLBENCH_CUDA_HEADERS
#include <cuda.h>

namespace dlbench::device::cuda {
namespace {

int checked = 0;

#define SAME(member, function)                                                            \
  static_assert(SameAbi<decltype(Api::member), decltype(&(function))>::value, #function); \
  ++checked

TEST(CudaPrototypes, AreThoseOfTheHeader) {
  checked = 0;
  SAME(init, cuInit);
  SAME(driver_get_version, cuDriverGetVersion);
  SAME(get_error_name, cuGetErrorName);
  SAME(device_get_count, cuDeviceGetCount);
  SAME(device_get, cuDeviceGet);
  SAME(device_get_name, cuDeviceGetName);
  SAME(device_get_uuid, cuDeviceGetUuid);
  SAME(device_get_attribute, cuDeviceGetAttribute);
  SAME(device_primary_ctx_retain, cuDevicePrimaryCtxRetain);
  SAME(ctx_set_current, cuCtxSetCurrent);
  SAME(ctx_get_current, cuCtxGetCurrent);
  SAME(ctx_get_device, cuCtxGetDevice);
  SAME(ctx_synchronize, cuCtxSynchronize);
  SAME(ctx_get_flags, cuCtxGetFlags);
  SAME(stream_create, cuStreamCreate);
  SAME(stream_destroy, cuStreamDestroy);
  SAME(stream_synchronize, cuStreamSynchronize);
  SAME(stream_query, cuStreamQuery);
  SAME(stream_wait_event, cuStreamWaitEvent);
  SAME(stream_begin_capture, cuStreamBeginCapture);
  SAME(stream_end_capture, cuStreamEndCapture);
  SAME(stream_is_capturing, cuStreamIsCapturing);
  SAME(graph_get_nodes, cuGraphGetNodes);
  SAME(graph_destroy, cuGraphDestroy);
  SAME(event_create, cuEventCreate);
  SAME(event_destroy, cuEventDestroy);
  SAME(event_record, cuEventRecord);
  SAME(event_query, cuEventQuery);
  SAME(event_synchronize, cuEventSynchronize);
  SAME(event_elapsed_time, cuEventElapsedTime);
  SAME(mem_alloc, cuMemAlloc);
  SAME(mem_free, cuMemFree);
  SAME(mem_get_info, cuMemGetInfo);
  SAME(mem_host_alloc, cuMemHostAlloc);
  SAME(mem_free_host, cuMemFreeHost);
  SAME(mem_alloc_managed, cuMemAllocManaged);
  SAME(memcpy_async, cuMemcpyAsync);
  SAME(memset_d32_async, cuMemsetD32Async);
  SAME(pointer_get_attributes, cuPointerGetAttributes);
  SAME(module_load_data, cuModuleLoadData);
  SAME(module_get_function, cuModuleGetFunction);
  SAME(launch_kernel, cuLaunchKernel);

  Api api;
  int all = 0;
  each(api, [&all](const char*, auto&) { ++all; });
  EXPECT_EQ(checked, all);
}

TEST(CudaPrototypes, TheNumbersToo) {
  static_assert(non_blocking == CU_STREAM_NON_BLOCKING);
  static_assert(no_timing == CU_EVENT_DISABLE_TIMING);
  static_assert(not_ready == CUDA_ERROR_NOT_READY);
  static_assert(compute_mode == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  static_assert(l2_cache_size == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  static_assert(memory_type == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  static_assert(device_ordinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  static_assert(is_managed == CU_POINTER_ATTRIBUTE_IS_MANAGED);
  static_assert(memory_type_host == CU_MEMORYTYPE_HOST);
  static_assert(memory_type_device == CU_MEMORYTYPE_DEVICE);
  static_assert(portable == CU_MEMHOSTALLOC_PORTABLE);
  static_assert(attach_global == CU_MEM_ATTACH_GLOBAL);
  SUCCEED();
}

}  // namespace
}  // namespace dlbench::device::cuda

#else

TEST(CudaPrototypes, AreThoseOfTheHeader) {
  GTEST_SKIP() << "no cuda.h here (CUDA toolkit)";
}

#endif

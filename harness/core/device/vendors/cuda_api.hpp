#pragma once

#include <cstddef>

#include "device/table.hpp"

/// The functions of the CUDA driver, which is loaded at run time. The prototypes are declared here,
/// so that a build needs no vendor header. A test compares them with cuda.h if it is installed.
namespace dlbench::device::cuda {

using Ordinal = int;
using Context = void*;
using Module = void*;
using Function = void*;

struct Uuid {
  unsigned char bytes[16];
};

/// The version of the driver API that these prototypes follow (cuGetProcAddress): 11.4.
inline constexpr int api_version = 11040;

/// Named as in cuda.h, without `cu`.
struct Api {
  Code (*get_proc_address)(const char* name, void** function, int version,
                           unsigned long long flags) = nullptr;
  Code (*init)(unsigned flags) = nullptr;
  Code (*driver_get_version)(int* version) = nullptr;
  Code (*get_error_name)(Code, const char** name) = nullptr;

  Code (*device_get_count)(int* count) = nullptr;
  Code (*device_get)(Ordinal*, int number) = nullptr;
  Code (*device_get_name)(char* name, int length, Ordinal) = nullptr;
  Code (*device_get_uuid)(Uuid*, Ordinal) = nullptr;
  Code (*device_get_attribute)(int* value, int attribute, Ordinal) = nullptr;
  Code (*device_primary_ctx_retain)(Context*, Ordinal) = nullptr;
  Code (*ctx_set_current)(Context) = nullptr;
  Code (*ctx_get_current)(Context*) = nullptr;
  Code (*ctx_get_device)(Ordinal*) = nullptr;
  Code (*ctx_get_flags)(unsigned* flags) = nullptr;
  Code (*ctx_synchronize)() = nullptr;

  Code (*stream_create)(Stream*, unsigned flags) = nullptr;
  Code (*stream_destroy)(Stream) = nullptr;
  Code (*stream_synchronize)(Stream) = nullptr;
  Code (*stream_query)(Stream) = nullptr;
  Code (*stream_wait_event)(Stream, Event, unsigned flags) = nullptr;

  Code (*stream_begin_capture)(Stream, int mode) = nullptr;
  Code (*stream_end_capture)(Stream, Graph*) = nullptr;
  Code (*stream_is_capturing)(Stream, int* status) = nullptr;
  Code (*graph_get_nodes)(Graph, void** nodes, std::size_t* count) = nullptr;
  Code (*graph_destroy)(Graph) = nullptr;

  Code (*event_create)(Event*, unsigned flags) = nullptr;
  Code (*event_destroy)(Event) = nullptr;
  Code (*event_record)(Event, Stream) = nullptr;
  Code (*event_query)(Event) = nullptr;
  Code (*event_synchronize)(Event) = nullptr;
  Code (*event_elapsed_time)(float* milliseconds, Event begin, Event end) = nullptr;

  Code (*mem_get_info)(std::size_t* free, std::size_t* total) = nullptr;
  Code (*mem_alloc)(Address*, std::size_t) = nullptr;
  Code (*mem_free)(Address) = nullptr;
  Code (*mem_host_alloc)(void**, std::size_t, unsigned flags) = nullptr;
  Code (*mem_free_host)(void*) = nullptr;
  Code (*mem_alloc_managed)(Address*, std::size_t, unsigned flags) = nullptr;
  Code (*memcpy_async)(Address to, Address from, std::size_t, Stream) = nullptr;
  Code (*memset_d32_async)(Address, unsigned value, std::size_t words, Stream) = nullptr;
  Code (*pointer_get_attributes)(unsigned count, int* attributes, void** values, Address) = nullptr;

  Code (*module_load_data)(Module*, const void* image) = nullptr;
  Code (*module_get_function)(Function*, Module, const char* name) = nullptr;
  Code (*launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        Stream, void** parameters, void** extra) = nullptr;
};

/// Calls visit(name in the driver, member) for each function except cuGetProcAddress, which finds
/// the others.
template <typename Visitor>
void each(Api& api, Visitor&& visit) {
  visit("cuInit", api.init);
  visit("cuDriverGetVersion", api.driver_get_version);
  visit("cuGetErrorName", api.get_error_name);
  visit("cuDeviceGetCount", api.device_get_count);
  visit("cuDeviceGet", api.device_get);
  visit("cuDeviceGetName", api.device_get_name);
  visit("cuDeviceGetUuid", api.device_get_uuid);
  visit("cuDeviceGetAttribute", api.device_get_attribute);
  visit("cuDevicePrimaryCtxRetain", api.device_primary_ctx_retain);
  visit("cuCtxSetCurrent", api.ctx_set_current);
  visit("cuCtxGetCurrent", api.ctx_get_current);
  visit("cuCtxGetDevice", api.ctx_get_device);
  visit("cuCtxGetFlags", api.ctx_get_flags);
  visit("cuCtxSynchronize", api.ctx_synchronize);
  visit("cuStreamCreate", api.stream_create);
  visit("cuStreamDestroy", api.stream_destroy);
  visit("cuStreamSynchronize", api.stream_synchronize);
  visit("cuStreamQuery", api.stream_query);
  visit("cuStreamWaitEvent", api.stream_wait_event);
  visit("cuStreamBeginCapture", api.stream_begin_capture);
  visit("cuStreamEndCapture", api.stream_end_capture);
  visit("cuStreamIsCapturing", api.stream_is_capturing);
  visit("cuGraphGetNodes", api.graph_get_nodes);
  visit("cuGraphDestroy", api.graph_destroy);
  visit("cuEventCreate", api.event_create);
  visit("cuEventDestroy", api.event_destroy);
  visit("cuEventRecord", api.event_record);
  visit("cuEventQuery", api.event_query);
  visit("cuEventSynchronize", api.event_synchronize);
  visit("cuEventElapsedTime", api.event_elapsed_time);
  visit("cuMemGetInfo", api.mem_get_info);
  visit("cuMemAlloc", api.mem_alloc);
  visit("cuMemFree", api.mem_free);
  visit("cuMemHostAlloc", api.mem_host_alloc);
  visit("cuMemFreeHost", api.mem_free_host);
  visit("cuMemAllocManaged", api.mem_alloc_managed);
  visit("cuMemcpyAsync", api.memcpy_async);
  visit("cuMemsetD32Async", api.memset_d32_async);
  visit("cuPointerGetAttributes", api.pointer_get_attributes);
  visit("cuModuleLoadData", api.module_load_data);
  visit("cuModuleGetFunction", api.module_get_function);
  visit("cuLaunchKernel", api.launch_kernel);
}

/// Numbers from cuda.h.
inline constexpr int compute_mode = 20;            // CU_DEVICE_ATTRIBUTE_COMPUTE_MODE
inline constexpr int l2_cache_size = 38;           // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
inline constexpr int memory_type = 2;              // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
inline constexpr int is_managed = 8;               // CU_POINTER_ATTRIBUTE_IS_MANAGED
inline constexpr int device_ordinal = 9;           // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
inline constexpr unsigned memory_type_host = 1;    // CU_MEMORYTYPE_HOST
inline constexpr unsigned memory_type_device = 2;  // CU_MEMORYTYPE_DEVICE
inline constexpr unsigned portable = 1;            // CU_MEMHOSTALLOC_PORTABLE
inline constexpr unsigned attach_global = 1;       // CU_MEM_ATTACH_GLOBAL

}  // namespace dlbench::device::cuda

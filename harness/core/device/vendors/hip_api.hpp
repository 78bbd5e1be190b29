#pragma once

#include <cstddef>

#include "device/table.hpp"

/// The functions of the HIP runtime and its compiler, which are loaded at run time. Their arguments
/// are scalars and handles, because HIP's structs change between major versions. The only struct is
/// read without its layout (arch_in). A test compares the prototypes with HIP's headers if they are
/// installed.
namespace dlbench::device::hip {

using Ordinal = int;
using Module = void*;
using Function = void*;
using Program = void*;

struct Uuid {
  unsigned char bytes[16];
};

/// The symbol of hipGetDeviceProperties since HIP 6, and before HIP 6.
inline constexpr const char* device_properties = "hipGetDevicePropertiesR0600";
inline constexpr const char* device_properties_before = "hipGetDeviceProperties";
/// hipDeviceProp_t has 792 bytes in HIP 5 and 1472 in HIP 6 and 7.
inline constexpr std::size_t properties_size = 16384;

/// Named as in hip_runtime_api.h, without `hip`.
struct Api {
  Code (*runtime_get_version)(int* version) = nullptr;
  const char* (*get_error_name)(Code) = nullptr;
  Code (*get_last_error)() = nullptr;

  Code (*get_device_count)(int* count) = nullptr;
  Code (*set_device)(Ordinal) = nullptr;
  Code (*get_device)(Ordinal*) = nullptr;
  Code (*device_get_name)(char* name, int length, Ordinal) = nullptr;
  Code (*device_get_uuid)(Uuid*, Ordinal) = nullptr;
  Code (*device_get_attribute)(int* value, int attribute, Ordinal) = nullptr;
  /// Writes a hipDeviceProp_t of any version, which has at most `properties_size` bytes.
  Code (*get_device_properties)(void* properties, Ordinal) = nullptr;
  Code (*get_device_flags)(unsigned* flags) = nullptr;
  Code (*device_synchronize)() = nullptr;

  Code (*stream_create_with_flags)(Stream*, unsigned flags) = nullptr;
  Code (*stream_destroy)(Stream) = nullptr;
  Code (*stream_synchronize)(Stream) = nullptr;
  Code (*stream_query)(Stream) = nullptr;
  Code (*stream_wait_event)(Stream, Event, unsigned flags) = nullptr;

  Code (*stream_begin_capture)(Stream, int mode) = nullptr;
  Code (*stream_end_capture)(Stream, Graph*) = nullptr;
  Code (*stream_is_capturing)(Stream, int* status) = nullptr;
  Code (*graph_get_nodes)(Graph, void** nodes, std::size_t* count) = nullptr;
  Code (*graph_destroy)(Graph) = nullptr;

  Code (*event_create_with_flags)(Event*, unsigned flags) = nullptr;
  Code (*event_destroy)(Event) = nullptr;
  Code (*event_record)(Event, Stream) = nullptr;
  Code (*event_query)(Event) = nullptr;
  Code (*event_synchronize)(Event) = nullptr;
  Code (*event_elapsed_time)(float* milliseconds, Event begin, Event end) = nullptr;

  Code (*mem_get_info)(std::size_t* free, std::size_t* total) = nullptr;
  Code (*malloc)(void**, std::size_t) = nullptr;
  Code (*free)(void*) = nullptr;
  Code (*host_malloc)(void**, std::size_t, unsigned flags) = nullptr;
  Code (*host_free)(void*) = nullptr;
  Code (*malloc_managed)(void**, std::size_t, unsigned flags) = nullptr;
  Code (*memcpy_async)(void* to, const void* from, std::size_t, int kind, Stream) = nullptr;
  Code (*memset_d32_async)(void*, int value, std::size_t words, Stream) = nullptr;
  Code (*pointer_get_attribute)(void* value, int attribute, void* address) = nullptr;

  Code (*module_load_data)(Module*, const void* image) = nullptr;
  Code (*module_get_function)(Function*, Module, const char* name) = nullptr;
  Code (*module_launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z,
                               unsigned shared_bytes, Stream, void** parameters,
                               void** extra) = nullptr;
};

/// Calls visit(name in the runtime, member) for each function.
template <typename Visitor>
void each(Api& api, Visitor&& visit) {
  visit("hipRuntimeGetVersion", api.runtime_get_version);
  visit("hipGetErrorName", api.get_error_name);
  visit("hipGetLastError", api.get_last_error);
  visit("hipGetDeviceCount", api.get_device_count);
  visit("hipSetDevice", api.set_device);
  visit("hipGetDevice", api.get_device);
  visit("hipDeviceGetName", api.device_get_name);
  visit("hipDeviceGetUuid", api.device_get_uuid);
  visit("hipDeviceGetAttribute", api.device_get_attribute);
  visit(device_properties, api.get_device_properties);
  visit("hipGetDeviceFlags", api.get_device_flags);
  visit("hipDeviceSynchronize", api.device_synchronize);
  visit("hipStreamCreateWithFlags", api.stream_create_with_flags);
  visit("hipStreamDestroy", api.stream_destroy);
  visit("hipStreamSynchronize", api.stream_synchronize);
  visit("hipStreamQuery", api.stream_query);
  visit("hipStreamWaitEvent", api.stream_wait_event);
  visit("hipStreamBeginCapture", api.stream_begin_capture);
  visit("hipStreamEndCapture", api.stream_end_capture);
  visit("hipStreamIsCapturing", api.stream_is_capturing);
  visit("hipGraphGetNodes", api.graph_get_nodes);
  visit("hipGraphDestroy", api.graph_destroy);
  visit("hipEventCreateWithFlags", api.event_create_with_flags);
  visit("hipEventDestroy", api.event_destroy);
  visit("hipEventRecord", api.event_record);
  visit("hipEventQuery", api.event_query);
  visit("hipEventSynchronize", api.event_synchronize);
  visit("hipEventElapsedTime", api.event_elapsed_time);
  visit("hipMemGetInfo", api.mem_get_info);
  visit("hipMalloc", api.malloc);
  visit("hipFree", api.free);
  visit("hipHostMalloc", api.host_malloc);
  visit("hipHostFree", api.host_free);
  visit("hipMallocManaged", api.malloc_managed);
  visit("hipMemcpyAsync", api.memcpy_async);
  visit("hipMemsetD32Async", api.memset_d32_async);
  visit("hipPointerGetAttribute", api.pointer_get_attribute);
  visit("hipModuleLoadData", api.module_load_data);
  visit("hipModuleGetFunction", api.module_get_function);
  visit("hipModuleLaunchKernel", api.module_launch_kernel);
}

/// The compiler, in libhiprtc or, before ROCm 7, in the runtime itself. Named as in hiprtc.h.
struct Compiler {
  const char* (*get_error_string)(Code) = nullptr;
  Code (*create_program)(Program*, const char* source, const char* name, int header_count,
                         const char** headers, const char** header_names) = nullptr;
  Code (*compile_program)(Program, int option_count, const char** options) = nullptr;
  Code (*get_program_log_size)(Program, std::size_t*) = nullptr;
  Code (*get_program_log)(Program, char*) = nullptr;
  Code (*get_code_size)(Program, std::size_t*) = nullptr;
  Code (*get_code)(Program, char*) = nullptr;
  Code (*destroy_program)(Program*) = nullptr;
};

template <typename Visitor>
void each(Compiler& compiler, Visitor&& visit) {
  visit("hiprtcGetErrorString", compiler.get_error_string);
  visit("hiprtcCreateProgram", compiler.create_program);
  visit("hiprtcCompileProgram", compiler.compile_program);
  visit("hiprtcGetProgramLogSize", compiler.get_program_log_size);
  visit("hiprtcGetProgramLog", compiler.get_program_log);
  visit("hiprtcGetCodeSize", compiler.get_code_size);
  visit("hiprtcGetCode", compiler.get_code);
  visit("hiprtcDestroyProgram", compiler.destroy_program);
}

/// Numbers from hip_runtime_api.h and driver_types.h.
inline constexpr int compute_mode = 6;         // hipDeviceAttributeComputeMode
inline constexpr int l2_cache_size = 19;       // hipDeviceAttributeL2CacheSize
inline constexpr int wall_clock_rate = 10017;  // hipDeviceAttributeWallClockRate, in kHz
inline constexpr int memory_type = 2;          // HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
inline constexpr int is_managed = 8;           // HIP_POINTER_ATTRIBUTE_IS_MANAGED
inline constexpr int device_ordinal = 9;       // HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL
inline constexpr int copy_default = 4;         // hipMemcpyDefault
inline constexpr unsigned portable = 1;        // hipHostMallocPortable
inline constexpr unsigned mapped = 2;          // hipHostMallocMapped
inline constexpr unsigned coherent = 1 << 30;  // hipHostMallocCoherent
inline constexpr unsigned attach_global = 1;   // hipMemAttachGlobal
/// hipMemoryTypeHost and hipMemoryTypeDevice are 0 and 1 before this version, 1 and 2 since.
inline constexpr int renumbered = 60'000'000;

}  // namespace dlbench::device::hip

#include "device/kernels.hpp"
#include "device/per_device.hpp"
#include "device/vendors/cuda.hpp"

namespace dlbench::device::cuda {

namespace {

const Api& api() {
  return driver().api;
}

/// Only the delay is compiled by the driver, so the reasons are those of its first launch.
const char* error_name(Code code) {
  switch (code) {
    case 221:
      return "CUDA_ERROR_JIT_COMPILER_NOT_FOUND: the driver compiles the delay kernel by "
             "libnvidia-ptxjitcompiler.so.1, which is not installed here";
    case 223:
      return "CUDA_ERROR_JIT_COMPILATION_DISABLED: unset CUDA_DISABLE_PTX_JIT, because the driver "
             "compiles the delay kernel";
    default:
      return name_of(api(), code);
  }
}

Code enter(int number) {
  static PerDevice contexts;
  Ordinal device = 0;
  if (const Code code = api().device_get(&device, number)) return code;
  Context context = nullptr;
  // Retained once and never released, because the frameworks in this process use it too.
  const Code code = contexts.get(number, &context, [device](void** made) {
    return api().device_primary_ctx_retain(made, device);
  });
  return code != 0 ? code : api().ctx_set_current(context);
}

Code allocate_pinned(void** made, std::size_t bytes) {
  return api().mem_host_alloc(made, bytes, portable);
}

Code allocate_managed(Address* made, std::size_t bytes) {
  return api().mem_alloc_managed(made, bytes, attach_global);
}

Code memory_of(Memory* kind, int* ordinal, Address address) {
  unsigned type = 0;
  unsigned managed = 0;
  int device = 0;
  int attributes[] = {memory_type, is_managed, device_ordinal};
  void* answers[] = {&type, &managed, &device};
  // For an unknown address every attribute is 0.
  if (const Code code = api().pointer_get_attributes(3, attributes, answers, address)) return code;
  *kind = managed != 0                 ? Memory::Managed
          : type == memory_type_device ? Memory::Device
          : type == memory_type_host   ? Memory::Pinned
                                       : Memory::Pageable;
  // The ordinal is negative for memory that belongs to no device.
  *ordinal = *kind == Memory::Pageable || device < 0 ? 0 : device;
  return 0;
}

Code cache_bytes(std::size_t* bytes) {
  Ordinal device = 0;
  if (const Code code = api().ctx_get_device(&device)) return code;
  int value = 0;
  const Code code = api().device_get_attribute(&value, l2_cache_size, device);
  *bytes = value > 0 ? static_cast<std::size_t>(value) : 0;
  return code;
}

}  // namespace

const char* name_of(const Api& from, Code code) {
  // A stub library has no names of errors.
  if (code == 34) return "CUDA_ERROR_STUB_LIBRARY";
  const char* name = nullptr;
  const bool is_known = from.get_error_name != nullptr && from.get_error_name(code, &name) == 0;
  return is_known && name != nullptr ? name : "CUDA error";
}

Code delay(Stream stream, std::int64_t ns, Address stamps, Address out, unsigned value) {
  static PerDevice kernels;
  Ordinal device = 0;
  if (const Code code = api().ctx_get_device(&device)) return code;
  Function kernel = nullptr;
  const Code code = kernels.get(device, &kernel, [](void** made) {
    Module module = nullptr;
    if (const Code failed = api().module_load_data(&module, delay_ptx.data())) return failed;
    return api().module_get_function(made, module, delay_kernel);
  });
  if (code != 0) return code;
  void* parameters[] = {&ns, &stamps, &out, &value};
  return api().launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
}

void fill(Table& table, const Api& from) {
  table = {
      .name = "cuda",
      .dl_device = 2,    // kDLCUDA
      .dl_pinned = 3,    // kDLCUDAHost
      .dl_managed = 13,  // kDLCUDAManaged
      .error_name = error_name,
      .device_count = from.device_get_count,
      .enter = enter,
      .current = from.ctx_get_current,
      .make_current = from.ctx_set_current,
      .synchronize = from.ctx_synchronize,
      .stream_create = from.stream_create,
      .stream_destroy = from.stream_destroy,
      .stream_synchronize = from.stream_synchronize,
      .stream_query = from.stream_query,
      .stream_wait = from.stream_wait_event,
      .capture_begin = from.stream_begin_capture,
      .capture_end = from.stream_end_capture,
      .capture_status = from.stream_is_capturing,
      .graph_nodes = from.graph_get_nodes,
      .graph_destroy = from.graph_destroy,
      .event_create = from.event_create,
      .event_destroy = from.event_destroy,
      .event_record = from.event_record,
      .event_query = from.event_query,
      .event_synchronize = from.event_synchronize,
      .event_elapsed = from.event_elapsed_time,
      .allocate = from.mem_alloc,
      .free = from.mem_free,
      .allocate_pinned = allocate_pinned,
      .free_pinned = from.mem_free_host,
      .allocate_managed = allocate_managed,
      .memory_of = memory_of,
      .memory_info = from.mem_get_info,
      .context_flags = from.ctx_get_flags,
      .cache_bytes = cache_bytes,
      .copy = from.memcpy_async,
      .fill32 = from.memset_d32_async,
      .delay = delay,
  };
}

}  // namespace dlbench::device::cuda

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
  table = shared_functions(from);
  table.name = "cuda";
  table.dl_device = 2;    // kDLCUDA
  table.dl_pinned = 3;    // kDLCUDAHost
  table.dl_managed = 13;  // kDLCUDAManaged
  table.error_name = error_name;
  table.enter = enter;
  table.current = from.ctx_get_current;
  table.make_current = from.ctx_set_current;
  table.synchronize = from.ctx_synchronize;
  table.allocate = from.mem_alloc;
  table.free = from.mem_free;
  table.allocate_pinned = allocate_pinned;
  table.free_pinned = from.mem_free_host;
  table.allocate_managed = allocate_managed;
  table.memory_of = memory_of;
  table.context_flags = from.ctx_get_flags;
  table.cache_bytes = cache_bytes;
  table.copy = from.memcpy_async;
  table.fill32 = from.memset_d32_async;
  table.delay = delay;
}

}  // namespace dlbench::device::cuda

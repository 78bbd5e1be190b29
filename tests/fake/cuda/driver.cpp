#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>

#include "cuda/entries.hpp"
#include "gpu/kernels.hpp"

namespace dlbench::fake::cuda {

namespace {

struct Error {
  Code code;
  const char* name;
};

constexpr Error errors[] = {
    {0, "CUDA_SUCCESS"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {not_initialized, "CUDA_ERROR_NOT_INITIALIZED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {35, "CUDA_ERROR_INSUFFICIENT_DRIVER"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
    {invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
    {illegal_state, "CUDA_ERROR_ILLEGAL_STATE"},
    {not_found, "CUDA_ERROR_NOT_FOUND"},
    {context_destroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {not_supported, "CUDA_ERROR_NOT_SUPPORTED"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {stream_capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {stream_capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {stream_capture_merge, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {stream_capture_unmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {stream_capture_unjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {stream_capture_isolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {stream_capture_implicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {captured_event, "CUDA_ERROR_CAPTURED_EVENT"},
    {stream_capture_wrong_thread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

Code get_error_name(Code code, const char** name) {
  *name = nullptr;
  for (const Error& error : errors) {
    if (error.code == code) *name = error.name;
  }
  return *name == nullptr ? invalid_value : 0;
}

Code get_export_table(const void** table, const void*) {
  *table = nullptr;
  return not_found;
}

Code get_proc_address(const char* name, void** function, int version, std::uint64_t flags);
Code get_proc_address_2(const char* name, void** function, int version, std::uint64_t flags,
                        int* status);

template <typename F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

using Entries = std::vector<Entry>;

const std::map<std::string_view, Entries>& functions() {
  static const std::map<std::string_view, Entries> all = [] {
    std::map<std::string_view, Entries> made;
    const Entries own{
        {"cuGetErrorName", address(&get_error_name), 6000},
        {"cuGetErrorString", address(&get_error_name), 6000},
        {"cuGetExportTable", address(&get_export_table), 3000},
        {"cuGetProcAddress", address(&get_proc_address), 11030},
        {"cuGetProcAddress", address(&get_proc_address_2), 12000},
    };
    for (const auto& room : {own, device_entries(), context_entries(), stream_entries(),
                             memory_entries(), copy_entries(), module_entries()}) {
      for (const Entry& one : room) made[one.name].push_back(one);
    }
    return made;
  }();
  return all;
}

/// The newest of a name that is not newer than `version` and this driver. `status` is as in cuda.h:
/// 1 for a name that this driver does not have, 2 for one that a later version brings.
Code find(const char* name, void** function, int version, int* status) {
  *function = nullptr;
  const Entry* found = nullptr;
  bool is_known = false;
  if (const auto entries = functions().find(name); entries != functions().end()) {
    for (const Entry& one : entries->second) {
      if (one.since > driver_version()) continue;
      is_known = true;
      if (one.since > version || (found != nullptr && found->since > one.since)) continue;
      found = &one;
    }
  }
  if (found != nullptr) *function = found->function;
  if (found == nullptr && logging()) std::fprintf(stderr, "[fake] no %s\n", name);
  if (status != nullptr) *status = found != nullptr ? 0 : is_known ? 2 : 1;
  return found == nullptr ? not_found : 0;
}

Code get_proc_address(const char* name, void** function, int version, std::uint64_t) {
  if (const Code code = called("cuGetProcAddress")) return code;
  return find(name, function, version, nullptr);
}

Code get_proc_address_2(const char* name, void** function, int version, std::uint64_t,
                        int* status) {
  if (const Code code = called("cuGetProcAddress")) return code;
  return find(name, function, version, status);
}

}  // namespace

}  // namespace dlbench::fake::cuda

namespace dlbench::fake {

const Vendor vendor{8, "CUDA_DEVICE_MAX_CONNECTIONS", false, 400, 46, invalid_handle};

}  // namespace dlbench::fake

DLBENCH_FAKE_EXPORT dlbench::fake::Code cuGetProcAddress_v2(const char* name, void** function,
                                                            int version, std::uint64_t flags,
                                                            int* status) {
  return dlbench::fake::cuda::get_proc_address_2(name, function, version, flags, status);
}

DLBENCH_FAKE_EXPORT dlbench::fake::Code cuGetProcAddress(const char* name, void** function,
                                                         int version, std::uint64_t flags) {
  return dlbench::fake::cuda::get_proc_address(name, function, version, flags);
}

#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>

#include "cuda/entries.hpp"

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
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
    {invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
    {not_found, "CUDA_ERROR_NOT_FOUND"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {not_supported, "CUDA_ERROR_NOT_SUPPORTED"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
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

const std::map<std::string_view, void*>& functions() {
  static const std::map<std::string_view, void*> all = [] {
    std::map<std::string_view, void*> made;
    for (const auto& room : {device_entries(), context_entries(), stream_entries(),
                             memory_entries(), copy_entries(), module_entries()}) {
      for (const Entry& one : room) made[one.name] = one.function;
    }
    return made;
  }();
  return all;
}

/// By its name alone: the newest prototype of each is the only one.
Code find(const char* name, void** function, int* status) {
  const std::string_view wanted = name;
  void* found = nullptr;
  if (const auto entry = functions().find(wanted); entry != functions().end()) {
    found = entry->second;
  } else if (wanted == "cuGetErrorName" || wanted == "cuGetErrorString") {
    found = reinterpret_cast<void*>(&get_error_name);
  } else if (wanted == "cuGetExportTable") {
    found = reinterpret_cast<void*>(&get_export_table);
  }
  if (found == nullptr && logging()) std::fprintf(stderr, "[fake] no %s\n", name);
  *function = found;
  if (status != nullptr) *status = found == nullptr ? 1 : 0;
  return found == nullptr ? not_found : 0;
}

}  // namespace

}  // namespace dlbench::fake::cuda

DLBENCH_FAKE_EXPORT dlbench::fake::Code cuGetProcAddress_v2(const char* name, void** function, int,
                                                            std::uint64_t, int* status) {
  using namespace dlbench::fake;
  if (const Code code = called("cuGetProcAddress")) return code;
  // The entry to all the others is found by itself, in its newer form.
  if (std::string_view(name) == "cuGetProcAddress") {
    *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
    if (status != nullptr) *status = 0;
    return 0;
  }
  return cuda::find(name, function, status);
}

DLBENCH_FAKE_EXPORT dlbench::fake::Code cuGetProcAddress(const char* name, void** function,
                                                         int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

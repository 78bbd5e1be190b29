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

struct Api {
  Code (*get_proc_address)(const char* name, void** function, int version,
                           unsigned long long flags) = nullptr;
#define F(result, member, name, arguments) result(*member) arguments = nullptr;
#include "device/vendors/cuda.def"
#undef F
};

/// Calls visit(name in the driver, member) for each function except cuGetProcAddress, which finds
/// the others.
template <typename Visitor>
void each(Api& api, Visitor&& visit) {
#define F(result, member, name, arguments) visit("cu" #name, api.member);
#include "device/vendors/cuda.def"
#undef F
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

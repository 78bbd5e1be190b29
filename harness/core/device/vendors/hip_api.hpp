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

struct Api {
#define F(result, member, name, arguments) result(*member) arguments = nullptr;
#include "device/vendors/hip.def"
#undef F
};

/// Calls visit(name in the runtime, member) for each function.
template <typename Visitor>
void each(Api& api, Visitor&& visit) {
#define F(result, member, name, arguments) visit("hip" #name, api.member);
#include "device/vendors/hip.def"
#undef F
}

struct Compiler {
#define F(result, member, name, arguments) result(*member) arguments = nullptr;
#include "device/vendors/hiprtc.def"
#undef F
};

template <typename Visitor>
void each(Compiler& compiler, Visitor&& visit) {
#define F(result, member, name, arguments) visit("hiprtc" #name, compiler.member);
#include "device/vendors/hiprtc.def"
#undef F
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

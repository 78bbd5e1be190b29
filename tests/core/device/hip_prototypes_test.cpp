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

TEST(HipPrototypes, AreThoseOfTheHeader) {
#if HIP_VERSION_MAJOR < 6
#define hipGetDevicePropertiesR0600 hipGetDeviceProperties
#endif
#define F(result, member, name, arguments) \
  static_assert(SameAbi<decltype(Api::member), decltype(&(hip##name))>::value, "hip" #name);
#include "device/vendors/hip.def"
#undef F
#define F(result, member, name, arguments)                                             \
  static_assert(SameAbi<decltype(Compiler::member), decltype(&(hiprtc##name))>::value, \
                "hiprtc" #name);
#include "device/vendors/hiprtc.def"
#undef F
  SUCCEED();
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

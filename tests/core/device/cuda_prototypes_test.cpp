// dlbench's prototypes and numbers against cuda.h, where that is installed.
#include <gtest/gtest.h>

#include "device/vendors/cuda_api.hpp"
#include "same_abi.hpp"

#ifdef DLBENCH_CUDA_HEADERS
#include <cuda.h>

namespace dlbench::device::cuda {
namespace {

TEST(CudaPrototypes, AreThoseOfTheHeader) {
#define F(result, member, name, arguments) \
  static_assert(SameAbi<decltype(Api::member), decltype(&(cu##name))>::value, "cu" #name);
#include "device/vendors/cuda.def"
#undef F
  SUCCEED();
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

#include <cstring>

#include "cuda/entries.hpp"
#include "device/vendors/cuda_api.hpp"
#include "gpu/blocks.hpp"
#include "gpu/kernels.hpp"
#include "gpu/ledger.hpp"

namespace dlbench::fake::cuda {

namespace {

using device::Memory;

// Of no bytes there is no allocation in CUDA.
Code alloc(Address* made, std::size_t bytes) {
  return bytes == 0 ? invalid_value : allocate(made, bytes);
}

Code alloc_managed(Address* made, std::size_t bytes, unsigned) {
  return bytes == 0 ? invalid_value : allocate_managed(made, bytes);
}

Code alloc_host(void** made, std::size_t bytes) {
  return allocate_pinned(made, bytes);
}

Code host_alloc(void** made, std::size_t bytes, unsigned) {
  return allocate_pinned(made, bytes);
}

Code alloc_from_pool(Address* made, std::size_t bytes, void*, Stream stream) {
  return allocate_async(made, bytes, stream);
}

Code host_device_pointer(Address* address, void* host, unsigned) {
  *address = reinterpret_cast<std::uintptr_t>(host);
  return 0;
}

Code get_info(std::size_t* free, std::size_t* total) {
  *total = total_memory();
  *free = free_memory_of(current()->device);
  return 0;
}

int pool = 0;

Code get_pool(void** found, int) {
  *found = &pool;
  return 0;
}

Code create_pool(void** made, const void*) {
  *made = &pool;
  return 0;
}

Code destroy_pool(void*) {
  return 0;
}

Code set_pool_attribute(void*, int, void*) {
  return 0;
}

Code get_pool_attribute(void*, int, void* value) {
  const std::uint64_t none = 0;
  std::memcpy(value, &none, sizeof none);
  return 0;
}

template <typename T>
void put(void* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

/// Numbers of CUpointer_attribute; the size of an answer is that of its attribute in cuda.h.
Code pointer_attribute(void* answer, int attribute, Address address) {
  const auto block = Blocks::instance().find(static_cast<std::uintptr_t>(address));
  if (!block) return invalid_value;
  const bool on_host = block->kind == Memory::Pinned;
  switch (attribute) {
    case 1:  // CONTEXT
      put(answer, current());
      return 0;
    case device::cuda::memory_type:
      put(answer, on_host ? device::cuda::memory_type_host : device::cuda::memory_type_device);
      return 0;
    case 3:  // DEVICE_POINTER
    case 4:  // HOST_POINTER
      put(answer, address);
      return 0;
    case 7:  // BUFFER_ID
      put(answer, static_cast<unsigned long long>(block->begin));
      return 0;
    case device::cuda::is_managed:
      put(answer, static_cast<unsigned>(block->kind == Memory::Managed));
      return 0;
    case 9:  // DEVICE_ORDINAL
      put(answer, block->device);
      return 0;
    case 11:  // RANGE_START_ADDR
      put(answer, static_cast<Address>(block->begin));
      return 0;
    case 12:  // RANGE_SIZE
      put(answer, block->bytes);
      return 0;
    default:
      return not_supported;
  }
}

Code pointer_attributes(unsigned count, int* attributes, void** answers, Address address) {
  for (unsigned i = 0; i < count; ++i) {
    if (pointer_attribute(answers[i], attributes[i], address) == 0) continue;
    const bool wide = attributes[i] == 1 || attributes[i] == 3 || attributes[i] == 4;
    std::memset(answers[i], 0, wide ? sizeof(void*) : sizeof(int));
  }
  return 0;
}

}  // namespace

std::vector<Entry> memory_entries() {
  return {
      entry<"cuMemAlloc", alloc>(3020),
      entry<"cuMemFree", free_memory>(3020),
      entry<"cuMemAllocManaged", alloc_managed>(6000),
      entry<"cuMemHostAlloc", host_alloc>(2020),
      entry<"cuMemAllocHost", alloc_host>(3020),
      entry<"cuMemFreeHost", free_pinned>(2000),
      entry<"cuMemHostGetDevicePointer", host_device_pointer>(3020),
      entry<"cuMemAllocAsync", allocate_async>(11020),
      entry<"cuMemAllocFromPoolAsync", alloc_from_pool>(11020),
      entry<"cuMemFreeAsync", free_async>(11020),
      entry<"cuMemGetInfo", get_info>(3020),
      entry<"cuDeviceGetDefaultMemPool", get_pool, Needs::Init>(11020),
      entry<"cuDeviceGetMemPool", get_pool, Needs::Init>(11020),
      entry<"cuMemPoolCreate", create_pool, Needs::Init>(11020),
      entry<"cuMemPoolDestroy", destroy_pool, Needs::Init>(11020),
      entry<"cuMemPoolSetAttribute", set_pool_attribute, Needs::Init>(11020),
      entry<"cuMemPoolGetAttribute", get_pool_attribute, Needs::Init>(11020),
      entry<"cuPointerGetAttribute", pointer_attribute>(4000),
      entry<"cuPointerGetAttributes", pointer_attributes>(7000),
  };
}

}  // namespace dlbench::fake::cuda

#include <cstring>

#include "device/vendors/hip_api.hpp"
#include "gpu/blocks.hpp"
#include "gpu/ledger.hpp"
#include "hip/runtime.hpp"

using namespace dlbench::fake;
using dlbench::device::Memory;
using hip::Address;
using hip::forward;
using hip::number;
using hip::run;
using hip::Stream;

DLBENCH_FAKE_EXPORT Code hipMemGetInfo(std::size_t* free, std::size_t* total) {
  return run(__func__, [&]() -> Code {
    *total = total_memory();
    *free = free_memory_of(current()->device);
    return 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipMalloc(Address* made, std::size_t bytes) {
  return forward(__func__, static_cast<Code (*)(Address*, std::size_t)>(allocate), made, bytes);
}

DLBENCH_FAKE_EXPORT Code hipFree(void* begin) {
  return forward(__func__, free_memory, number(begin));
}

DLBENCH_FAKE_EXPORT Code hipHostMalloc(void** made, std::size_t bytes, unsigned flags) {
  return run(__func__, [&]() -> Code {
    constexpr unsigned mapped = 2;
    constexpr unsigned coherent = 0x40000000;
    constexpr unsigned non_coherent = 0x80000000;
    if ((flags & coherent) != 0 && (flags & non_coherent) != 0) return invalid_value;
    // As ROCm reads them: no flag at all is coherent, but hipHostMallocPortable alone is not.
    const bool is_coherent = flags == 0 || (flags & (coherent | mapped)) != 0 ||
                             ((flags & non_coherent) == 0 && mode("HIP_HOST_COHERENT", 0) != 0);
    return allocate_pinned(made, bytes, is_coherent);
  });
}

DLBENCH_FAKE_EXPORT Code hipHostFree(void* begin) {
  return forward(__func__, free_pinned, begin);
}

DLBENCH_FAKE_EXPORT Code hipMallocManaged(Address* made, std::size_t bytes, unsigned) {
  return forward(__func__, allocate_managed, made, bytes);
}

DLBENCH_FAKE_EXPORT Code hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int,
                                        Stream stream) {
  return forward(__func__, copy, number(to), number(from), bytes, stream);
}

DLBENCH_FAKE_EXPORT Code hipMemsetD32Async(void* begin, int value, std::size_t words,
                                           Stream stream) {
  return forward(__func__, fill<unsigned>, number(begin), static_cast<unsigned>(value), words,
                 stream);
}

DLBENCH_FAKE_EXPORT Code hipPointerGetAttribute(void* answer, int attribute, void* address) {
  return run(__func__, [&]() -> Code {
    const auto block = Blocks::instance().find(reinterpret_cast<std::uintptr_t>(address));
    if (!block) return invalid_value;
    unsigned reported = 0;
    if (attribute == dlbench::device::hip::is_managed) reported = block->kind == Memory::Managed;
    if (attribute == dlbench::device::hip::memory_type) {
      // hipMemoryTypeHost, Device and Managed, as ROCm 6 numbers them.
      reported = block->kind == Memory::Pinned ? 1 : block->kind == Memory::Device ? 2 : 3;
    }
    if (attribute == dlbench::device::hip::device_ordinal) {
      reported = static_cast<unsigned>(block->device);
    }
    std::memcpy(answer, &reported, sizeof reported);
    return 0;
  });
}

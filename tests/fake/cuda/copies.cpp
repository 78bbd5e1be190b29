#include "cuda/entries.hpp"

namespace dlbench::fake::cuda {

namespace {

Address number(Address address) {
  return address;
}

Address number(const void* host) {
  return reinterpret_cast<std::uintptr_t>(host);
}

template <typename To, typename From>
Code copy_async(To to, From from, std::size_t bytes, Stream stream) {
  return fake::copy(number(to), number(from), bytes, stream);
}

/// On the legacy stream, and waits for it.
template <typename To, typename From>
Code copy_now(To to, From from, std::size_t bytes) {
  const Code code = copy_async(to, from, bytes, nullptr);
  return code != 0 ? code : stream_synchronize(nullptr);
}

template <typename T>
Code fill_async(Address begin, T value, std::size_t count, Stream stream) {
  constexpr Code invalid_value = 1;
  if (begin % sizeof(T) != 0) return invalid_value;
  return fill(begin, value, count, stream);
}

template <typename T>
Code fill_default(Address begin, T value, std::size_t count) {
  return fill_async(begin, value, count, nullptr);
}

}  // namespace

std::vector<Entry> copy_entries() {
  using Byte = unsigned char;
  return {
      entry<"cuMemcpy", copy_now<Address, Address>>(4000),
      entry<"cuMemcpyAsync", fake::copy>(4000),
      entry<"cuMemcpyHtoD", copy_now<Address, const void*>>(3020),
      entry<"cuMemcpyHtoDAsync", copy_async<Address, const void*>>(3020),
      entry<"cuMemcpyDtoH", copy_now<void*, Address>>(3020),
      entry<"cuMemcpyDtoHAsync", copy_async<void*, Address>>(3020),
      entry<"cuMemcpyDtoD", copy_now<Address, Address>>(3020),
      entry<"cuMemcpyDtoDAsync", copy_async<Address, Address>>(3020),
      entry<"cuMemsetD8", fill_default<Byte>>(3020),
      entry<"cuMemsetD8Async", fill_async<Byte>>(3020),
      entry<"cuMemsetD16", fill_default<unsigned short>>(3020),
      entry<"cuMemsetD16Async", fill_async<unsigned short>>(3020),
      entry<"cuMemsetD32", fill_default<unsigned>>(3020),
      entry<"cuMemsetD32Async", fill_async<unsigned>>(3020),
  };
}

}  // namespace dlbench::fake::cuda

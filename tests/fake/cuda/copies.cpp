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
      entry<"cuMemcpy", copy_now<Address, Address>>(),
      entry<"cuMemcpyAsync", fake::copy>(),
      entry<"cuMemcpyHtoD", copy_now<Address, const void*>>(),
      entry<"cuMemcpyHtoDAsync", copy_async<Address, const void*>>(),
      entry<"cuMemcpyDtoH", copy_now<void*, Address>>(),
      entry<"cuMemcpyDtoHAsync", copy_async<void*, Address>>(),
      entry<"cuMemcpyDtoD", copy_now<Address, Address>>(),
      entry<"cuMemcpyDtoDAsync", copy_async<Address, Address>>(),
      entry<"cuMemsetD8", fill_default<Byte>>(),
      entry<"cuMemsetD8Async", fill_async<Byte>>(),
      entry<"cuMemsetD16", fill_default<unsigned short>>(),
      entry<"cuMemsetD16Async", fill_async<unsigned short>>(),
      entry<"cuMemsetD32", fill_default<unsigned>>(),
      entry<"cuMemsetD32Async", fill_async<unsigned>>(),
  };
}

}  // namespace dlbench::fake::cuda

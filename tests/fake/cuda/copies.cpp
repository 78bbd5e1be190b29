#include <cstring>

#include "cuda/entries.hpp"

namespace dlbench::fake::cuda {

namespace {

device::sim::Device& sim() {
  return device::sim::Device::instance();
}

Address number(Address address) {
  return address;
}

Address number(const void* host) {
  return reinterpret_cast<std::uintptr_t>(host);
}

template <typename To, typename From>
Code copy_async(To to, From from, std::size_t bytes, Stream stream) {
  return device::sim::table().copy(number(to), number(from), bytes, stream);
}

/// On the legacy stream, and waits for it.
template <typename To, typename From>
Code copy(To to, From from, std::size_t bytes) {
  const Code code = copy_async(to, from, bytes, nullptr);
  return code != 0 ? code : device::sim::table().stream_synchronize(nullptr);
}

template <typename T>
Code fill_async(Address begin, T value, std::size_t count, Stream stream) {
  sim().push(stream, [=] {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(reinterpret_cast<char*>(static_cast<std::uintptr_t>(begin)) + i * sizeof value,
                  &value, sizeof value);
    }
  });
  return 0;
}

template <typename T>
Code fill(Address begin, T value, std::size_t count) {
  return fill_async(begin, value, count, nullptr);
}

}  // namespace

std::vector<Entry> copy_entries() {
  using Byte = unsigned char;
  return {
      entry<"cuMemcpy", copy<Address, Address>>(),
      entry<"cuMemcpyAsync", &Table::copy>(),
      entry<"cuMemcpyHtoD", copy<Address, const void*>>(),
      entry<"cuMemcpyHtoDAsync", copy_async<Address, const void*>>(),
      entry<"cuMemcpyDtoH", copy<void*, Address>>(),
      entry<"cuMemcpyDtoHAsync", copy_async<void*, Address>>(),
      entry<"cuMemcpyDtoD", copy<Address, Address>>(),
      entry<"cuMemcpyDtoDAsync", copy_async<Address, Address>>(),
      entry<"cuMemsetD8", fill<Byte>>(),
      entry<"cuMemsetD8Async", fill_async<Byte>>(),
      entry<"cuMemsetD16", fill<unsigned short>>(),
      entry<"cuMemsetD16Async", fill_async<unsigned short>>(),
      entry<"cuMemsetD32", fill<unsigned>>(),
      entry<"cuMemsetD32Async", &Table::fill32>(),
  };
}

}  // namespace dlbench::fake::cuda

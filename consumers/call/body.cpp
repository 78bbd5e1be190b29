#include "call/body.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "call/numbers.h"

struct dlbench_call_record dlbench_call_record;
struct dlbench_call_record* dlbench_call_launched = nullptr;

namespace {

unsigned char* content = nullptr;
std::size_t bytes = 0;  // of each array

// The kernel copies, because an argument may have fewer bytes than are asked for.
void copy_content(std::size_t arrays) {
  for (std::size_t i = 0; i < arrays; ++i) {
    const iovec to{content + i * bytes, bytes};
    const iovec from{dlbench_call_record.last[i], bytes};
    process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  }
}

template <std::size_t... position>
void* function_of(std::index_sequence<position...>) {
  using dlbench::call::Each;
  void (*function)(Each<position, void*>...) = [](Each<position, void*>... address) {
    void* const addresses[] = {address..., nullptr};
    dlbench_call(sizeof...(position), addresses);
  };
  return reinterpret_cast<void*>(function);
}

template <std::size_t... arrays>
std::array<void*, sizeof...(arrays)> functions_of(std::index_sequence<arrays...>) {
  return {function_of(std::make_index_sequence<arrays>())...};
}

}  // namespace

void dlbench_call_argument(std::size_t position, void* address) {
  dlbench_call_record.sum += reinterpret_cast<std::uintptr_t>(address) * (2 * position + 1);
  dlbench_call_record.last[position] = address;
}

void dlbench_call_end(std::size_t arrays) {
  dlbench_call_record.arrays = arrays;
  ++dlbench_call_record.calls;
  if (auto* const watch = dlbench_call_record.watch) [[unlikely]]
    watch(arrays);
}

void dlbench_call(std::size_t arrays, void* const* addresses) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < arrays; ++i) {
    sum += reinterpret_cast<std::uintptr_t>(addresses[i]) * (2 * i + 1);
    dlbench_call_record.last[i] = addresses[i];
  }
  dlbench_call_record.sum += sum;
  dlbench_call_end(arrays);
}

void dlbench_call_describe(std::size_t position, std::int32_t ndim, const std::int64_t* shape,
                           const std::int64_t* strides, std::int64_t unit, std::uint8_t code,
                           std::uint8_t bits) {
  if (dlbench_call_record.described == nullptr || position >= DLBENCH_CALL_MOST) return;
  if (ndim < 0 || ndim > DLBENCH_CALL_DIMENSIONS) return;
  dlbench_call_tensor& tensor = dlbench_call_record.described[position];
  tensor.ndim = ndim;
  tensor.code = code;
  tensor.bits = bits;
  std::int64_t compact = unit;
  for (std::int32_t d = ndim; d-- > 0; compact *= shape[d]) {
    tensor.shape[d] = shape[d];
    tensor.strides[d] = strides != nullptr ? strides[d] * unit : compact;
  }
}

std::uint64_t dlbench_call_gather() {
  const std::uint64_t calls = dlbench_call_launched != nullptr ? dlbench_call_launched->calls : 0;
  if (calls == 0) return 0;
  dlbench_call_record.calls += calls;
  dlbench_call_record.sum += dlbench_call_launched->sum;
  dlbench_call_record.arrays = dlbench_call_launched->arrays;
  std::copy_n(dlbench_call_launched->last, DLBENCH_CALL_MOST, dlbench_call_record.last);
  *dlbench_call_launched = {};
  return calls;
}

void dlbench_call_begin(void* copied, std::size_t each) {
  dlbench_call_tensor* const described = dlbench_call_record.described;
  dlbench_call_record = {};
  dlbench_call_record.described = described;
  content = static_cast<unsigned char*>(copied);
  bytes = each;
  if (content != nullptr) dlbench_call_record.watch = &copy_content;
}

void* dlbench_call_function(std::size_t arrays) {
  static const auto functions = functions_of(std::make_index_sequence<DLBENCH_CALL_MOST + 1>());
  return arrays < functions.size() ? functions[arrays] : nullptr;
}

// PyTorch operators by its stable ABI: no C++ type of libtorch in the interface.
//: -I{torch}/include -L{torch}/lib -ltorch -ltorch_cpu
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include "call/body.h"
#include "call/numbers.h"

namespace {

// The stable ABI numbers dtypes otherwise than DLPack.
void* argument(std::size_t position, const torch::stable::Tensor& tensor) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const auto unit = static_cast<std::int64_t>(tensor.element_size());
    dlbench_call_describe(position, static_cast<std::int32_t>(tensor.dim()), tensor.sizes().data(),
                          tensor.strides().data(), unit, 0, 0);
  }
  return tensor.data_ptr();
}

template <typename Positions>
struct Of;
template <std::size_t... position>
struct Of<std::index_sequence<position...>> {
  static void call(dlbench::call::Each<position, torch::stable::Tensor>... tensor) {
    void* const addresses[] = {argument(position, tensor)..., nullptr};
    dlbench_call(sizeof...(position), addresses);
  }
};

}  // namespace

STABLE_TORCH_LIBRARY(dlbench_stable, library) {
#define DLBENCH_DEFINE(n) library.def(dlbench::call::torch_schema("call", n).c_str());
  DLBENCH_CALL_NUMBERS(DLBENCH_DEFINE)
}

STABLE_TORCH_LIBRARY_IMPL(dlbench_stable, CPU, library) {
#define DLBENCH_IMPLEMENT(n) \
  library.impl("call_" #n, TORCH_BOX(&Of<std::make_index_sequence<n>>::call));
  DLBENCH_CALL_NUMBERS(DLBENCH_IMPLEMENT)
}

// PyTorch operators by its stable ABI: no C++ type of libtorch in the interface.
//: -I{torch}/include -L{torch}/lib -ltorch -ltorch_cpu
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include "call/body.h"
#include "call/numbers.h"

namespace {

template <typename Positions>
struct Of;
template <std::size_t... position>
struct Of<std::index_sequence<position...>> {
  static void call(dlbench::call::Each<position, torch::stable::Tensor>... tensor) {
    void* const addresses[] = {tensor.data_ptr()..., nullptr};
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

// PyTorch operators by TORCH_LIBRARY, with a kernel for the CPU.
//: -I{torch}/include -I{torch}/include/torch/csrc/api/include
//: -L{torch}/lib -ltorch -ltorch_cpu -lc10
#include <torch/library.h>

#include "call/body.h"
#include "call/numbers.h"

namespace {

template <typename Positions>
struct Of;
template <std::size_t... position>
struct Of<std::index_sequence<position...>> {
  static void call(dlbench::call::Each<position, const at::Tensor&>... tensor) {
    void* const addresses[] = {tensor.data_ptr()..., nullptr};
    dlbench_call(sizeof...(position), addresses);
  }
};

}  // namespace

TORCH_LIBRARY(dlbench_compiled, library) {
#define DLBENCH_DEFINE(n) library.def(dlbench::call::torch_schema("call", n).c_str());
  DLBENCH_CALL_NUMBERS(DLBENCH_DEFINE)
}

TORCH_LIBRARY_IMPL(dlbench_compiled, CPU, library) {
#define DLBENCH_IMPLEMENT(n) library.impl("call_" #n, &Of<std::make_index_sequence<n>>::call);
  DLBENCH_CALL_NUMBERS(DLBENCH_IMPLEMENT)
}

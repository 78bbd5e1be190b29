// PyTorch operators by TORCH_LIBRARY, with a kernel for the CPU.
//: -I{torch}/include -I{torch}/include/torch/csrc/api/include
//: -L{torch}/lib -ltorch -ltorch_cpu -lc10
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "call/body.h"
#include "call/numbers.h"
#include "call/torch_tensor.h"

namespace {

template <typename Positions>
struct Of;
template <std::size_t... position>
struct Of<std::index_sequence<position...>> {
  template <typename... More>
  static void call(dlbench::call::Each<position, const at::Tensor&>... tensor, More...) {
    void* const addresses[] = {argument(position, tensor)..., nullptr};
    dlbench_call(sizeof...(position), addresses);
  }
  static at::Tensor output(dlbench::call::Each<position, const at::Tensor&>... tensor) {
    call(tensor...);
    return at::empty({dlbench::call::kOutput});
  }
};

void call_list(at::TensorList tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    dlbench_call_argument(i, argument(i, tensors[i]));
  dlbench_call_end(tensors.size());
}

}  // namespace

TORCH_LIBRARY(dlbench_compiled, library) {
  using dlbench::call::torch_schema;
  library.def("list(Tensor[] tensors) -> ()");
#define DLBENCH_DEFINE(n)                                                      \
  library.def(torch_schema("call", n).c_str());                                \
  library.def(torch_schema("scalars", n, ", int count, float scale").c_str()); \
  library.def(torch_schema("output", n, "", "Tensor").c_str());
  DLBENCH_CALL_NUMBERS(DLBENCH_DEFINE)
}

TORCH_LIBRARY_IMPL(dlbench_compiled, CPU, library) {
  library.impl("list", &call_list);
#define DLBENCH_IMPLEMENT(n)                                                                 \
  library.impl("call_" #n, &Of<std::make_index_sequence<n>>::call<>);                        \
  library.impl("scalars_" #n, &Of<std::make_index_sequence<n>>::call<std::int64_t, double>); \
  library.impl("output_" #n, &Of<std::make_index_sequence<n>>::output);
  DLBENCH_CALL_NUMBERS(DLBENCH_IMPLEMENT)
}

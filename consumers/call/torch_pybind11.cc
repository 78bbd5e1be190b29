// A PyTorch extension: pybind11 functions of at::Tensor, without the rest of <torch/extension.h>.
//: -I{torch}/include -I{torch}/include/torch/csrc/api/include
//: -L{torch}/lib -ltorch -ltorch_cpu -lc10 -ltorch_python
#include <torch/csrc/utils/pybind.h>

#include "call/body.h"
#include "call/numbers.h"
#include "call/torch_tensor.h"

PYBIND11_MODULE(torch_pybind11, module) {
  dlbench::call::each_number([&]<std::size_t... position>(std::index_sequence<position...>) {
    module.def(("call_" + std::to_string(sizeof...(position))).c_str(),
               [](dlbench::call::Each<position, const at::Tensor&>... tensor) {
                 void* const addresses[] = {argument(position, tensor)..., nullptr};
                 dlbench_call(sizeof...(position), addresses);
               });
  });
}

#include "hip/runtime.hpp"
#include "kernels.hpp"

using namespace dlbench::fake;
using hip::run;

DLBENCH_FAKE_EXPORT Code hipModuleLoadData(Module** made, const void* image) {
  return run(__func__, [&]() -> Code {
    *made = load(image);
    return *made == nullptr ? 209 : 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipModuleGetFunction(Function** made, Module* module, const char* name) {
  return run(__func__, [&]() -> Code {
    *made = find(*module, name);
    return *made == nullptr ? hip::not_found : 0;
  });
}

DLBENCH_FAKE_EXPORT Code hipModuleLaunchKernel(Function* function, unsigned, unsigned, unsigned,
                                               unsigned, unsigned, unsigned, unsigned,
                                               hip::Stream stream, void** parameters, void**) {
  return run(__func__, [&] { return launch(*function, stream, parameters); });
}

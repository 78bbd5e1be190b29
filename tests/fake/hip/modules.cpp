#include <cstring>
#include <string>

#include "gpu/kernels.hpp"
#include "hip/runtime.hpp"

using namespace dlbench::fake;
using hip::run;

DLBENCH_FAKE_EXPORT Code hipModuleLoadData(void** made, const void* image) {
  return run(__func__, [&]() -> Code {
    // Code of another architecture is none.
    const std::string begin = code_object_begin + std::string(hip::arch) + "\n";
    const auto* const text = static_cast<const char*>(image);
    if (std::strncmp(text, begin.c_str(), begin.size()) != 0) return no_binary_for_gpu;
    return load_module(made, text + begin.size(), current());
  });
}

DLBENCH_FAKE_EXPORT Code hipModuleUnload(void* module) {
  return run(__func__, [&] { return unload_module(module); });
}

DLBENCH_FAKE_EXPORT Code hipModuleGetFunction(void** made, void* module, const char* name) {
  return run(__func__, [&] { return find_function(made, module, name); });
}

DLBENCH_FAKE_EXPORT Code hipModuleLaunchKernel(void* function, unsigned, unsigned, unsigned,
                                               unsigned, unsigned, unsigned, unsigned,
                                               hip::Stream stream, void** parameters, void**) {
  return run(__func__, [&] {
    const Code code = launch(function, stream, parameters);
    return code == vendor.destroyed ? invalid_value : code;  // its own word for such a stream
  });
}

#include "cuda/entries.hpp"
#include "kernels.hpp"

namespace dlbench::fake::cuda {

namespace {

constexpr Code no_binary_for_gpu = 209;

/// CUlaunchConfig of cuda.h.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  void* attributes;
  unsigned attribute_count;
};

Code load(Module** made, const void* image) {
  *made = fake::load(image);
  return *made == nullptr ? no_binary_for_gpu : 0;
}

Code load_with_options(Module** made, const void* image, unsigned, int*, void**) {
  return load(made, image);
}

Code load_library(Module** made, const void* image, int*, void**, unsigned, int*, void**,
                  unsigned) {
  return load(made, image);
}

Code unload(Module* module) {
  return fake::unload(module) ? 0 : invalid_handle;
}

Code get_function(Function** made, Module* module, const char* name) {
  *made = find(*module, name);
  return *made == nullptr ? not_found : 0;
}

Code function_of_kernel(Function** made, Function* kernel) {
  *made = kernel;
  return 0;
}

Code launch_kernel(Function* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, Stream stream, void** parameters, void**) {
  return launch(*function, stream, parameters);
}

Code launch_kernel_ex(const LaunchConfig* config, Function* function, void** parameters, void**) {
  return launch(*function, config->stream, parameters);
}

}  // namespace

std::vector<Entry> module_entries() {
  return {
      entry<"cuModuleLoadData", load>(),
      entry<"cuModuleLoadDataEx", load_with_options>(),
      entry<"cuModuleUnload", unload, Needs::Init>(),
      entry<"cuModuleGetFunction", get_function>(),
      entry<"cuLibraryLoadData", load_library>(),
      entry<"cuLibraryUnload", unload, Needs::Init>(),
      entry<"cuLibraryGetKernel", get_function>(),
      entry<"cuKernelGetFunction", function_of_kernel>(),
      entry<"cuLaunchKernel", launch_kernel>(),
      entry<"cuLaunchKernelEx", launch_kernel_ex>(),
  };
}

}  // namespace dlbench::fake::cuda

#include "cuda/entries.hpp"
#include "gpu/kernels.hpp"

namespace dlbench::fake::cuda {

namespace {

/// CUlaunchConfig of cuda.h.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  void* attributes;
  unsigned attribute_count;
};

Code load(void** made, const void* image) {
  return load_module(made, image, current());
}

Code load_with_options(void** made, const void* image, unsigned, int*, void**) {
  return load(made, image);
}

Code load_library(void** made, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
  return load_module(made, image, nullptr);
}

Code function_of_kernel(void** made, void* kernel) {
  *made = kernel;
  return 0;
}

/// Of 1 everywhere: a caller asks how many threads a kernel allows, and what it uses.
Code attribute_of_kernel(int* value, int, void*, int) {
  *value = 1;
  return 0;
}

Code launch_kernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, Stream stream, void** parameters, void**) {
  return launch(function, stream, parameters);
}

Code launch_kernel_ex(const LaunchConfig* config, void* function, void** parameters, void**) {
  return launch(function, config->stream, parameters);
}

}  // namespace

std::vector<Entry> module_entries() {
  return {
      entry<"cuModuleLoadData", load>(2000),
      entry<"cuModuleLoadDataEx", load_with_options>(2010),
      entry<"cuModuleUnload", unload_module, Needs::Init>(2000),
      entry<"cuModuleGetFunction", find_function>(2000),
      entry<"cuLibraryLoadData", load_library>(12000),
      entry<"cuLibraryUnload", unload_module, Needs::Init>(12000),
      entry<"cuLibraryGetKernel", find_function>(12000),
      entry<"cuKernelGetFunction", function_of_kernel>(12000),
      entry<"cuKernelGetAttribute", attribute_of_kernel>(12000),
      entry<"cuLaunchKernel", launch_kernel>(4000),
      entry<"cuLaunchKernelEx", launch_kernel_ex>(11060),
  };
}

}  // namespace dlbench::fake::cuda

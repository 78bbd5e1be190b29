#include <string>
#include <vector>

#include "device/hip.hpp"
#include "device/kernels.hpp"
#include "device/per_device.hpp"

namespace dlbench::device::hip {

namespace {

constexpr Code not_supported = 801;
constexpr Code invalid_source = 300;

/// The compiler of the runtime's own version: what another one writes the runtime may not read.
struct Loaded {
  std::string name = "libhiprtc.so." + std::to_string(runtime().version / 10'000'000);
  Library library{"libhiprtc.so", {name.c_str(), "libhiprtc.so"}};
  Compiler compiler;
  bool whole = true;

  Loaded() {
    each(compiler, [this](const char* symbol, auto& function) {
      set(function, library.symbol(symbol));
      if (function == nullptr) set(function, runtime().library.symbol(symbol));
      whole = whole && function != nullptr;
    });
  }
};

/// The compiler's errors are numbers of its own, so that they become one of the runtime's here.
Code compile(std::vector<char>& made) {
  static const Loaded loaded;
  if (!loaded.whole) return not_supported;
  const Compiler& compiler = loaded.compiler;
  Program program = nullptr;
  Code code = compiler.create_program(&program, delay_hip.data(), "delay.hip", 0, nullptr, nullptr);
  if (code != 0) return invalid_source;
  std::size_t bytes = 0;
  if (code == 0) code = compiler.compile_program(program, 0, nullptr);
  if (code == 0) code = compiler.get_code_size(program, &bytes);
  if (code == 0) made.resize(bytes);
  if (code == 0) code = compiler.get_code(program, made.data());
  const Code last = compiler.destroy_program(&program);
  return code == 0 && last == 0 ? 0 : invalid_source;
}

Code load(Function* made) {
  std::vector<char> image;
  if (const Code code = compile(image)) return code;
  Module module = nullptr;
  if (const Code code = runtime().api.module_load_data(&module, image.data())) return code;
  return runtime().api.module_get_function(made, module, delay_kernel);
}

}  // namespace

Code delay(Stream stream, std::int64_t ns, Address stamps, Address out, unsigned value) {
  static PerDevice kernels;
  const Api& api = runtime().api;
  Ordinal device = 0;
  if (const Code code = api.get_device(&device)) return code;
  int khz = 0;
  if (const Code code = api.device_get_attribute(&khz, wall_clock_rate, device)) return code;
  if (khz <= 0) return not_supported;
  Function kernel = nullptr;
  if (const Code code = kernels.get(device, &kernel, load)) return code;
  unsigned long long rate = static_cast<unsigned long long>(khz);
  void* parameters[] = {&ns, &stamps, &out, &value, &rate};
  return api.module_launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace dlbench::device::hip

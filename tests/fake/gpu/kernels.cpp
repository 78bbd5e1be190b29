#include "gpu/kernels.hpp"

#include <cstring>
#include <mutex>
#include <string>

#include "device/kernels.hpp"
#include "device/sim.hpp"
#include "gpu/blocks.hpp"
#include "gpu/program.hpp"

namespace dlbench::fake {

namespace {

struct Function {
  void* module;
  Context* context;
  std::string name;
};

struct Module {
  Context* context;
  std::string text;
};

struct Loaded {
  std::mutex mutex;
  std::map<void*, Module> modules;
  std::map<void*, Function> functions;
};

Loaded& loaded() {
  static Loaded& all = *std::make_unique<Loaded>().release();
  return all;
}

template <typename T>
T parameter(void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

struct Delay {
  std::int64_t ns;
  std::uintptr_t stamps;
  std::uintptr_t out;
  unsigned value;

  /// False where it writes to what the device does not reach.
  bool run() const {
    Blocks& blocks = Blocks::instance();
    const std::int64_t begin = timer();
    device::sim::pass(ns, false);
    while (timer() - begin < ns) {
    }
    if (out != 0) {
      if (!blocks.is_mapped(out, sizeof value)) return false;
      blocks.store(out, &value, sizeof value);
    }
    if (stamps != 0) {
      if (!blocks.is_mapped(stamps, 2 * sizeof begin)) return false;
      blocks.store(stamps, &begin, sizeof begin);
      const std::int64_t end = timer();
      blocks.store(stamps + sizeof begin, &end, sizeof end);
    }
    return true;
  }
};

}  // namespace

Code load_module(void** made, const void* image, Context* context) {
  const auto* const bytes = static_cast<const unsigned char*>(image);
  // An ELF file begins with 7F, a fat binary with 50 ED 55 BA.
  if (bytes == nullptr || bytes[0] == 0 || bytes[0] >= 0x7F || bytes[1] >= 0x7F) {
    return no_binary_for_gpu;
  }
  *made = next_handle();
  const std::lock_guard lock(loaded().mutex);
  loaded().modules[*made] = {context, static_cast<const char*>(image)};
  return 0;
}

Code unload_module(void* module) {
  const std::lock_guard lock(loaded().mutex);
  std::erase_if(loaded().functions, [&](const auto& one) { return one.second.module == module; });
  return loaded().modules.erase(module) == 1 ? 0 : vendor.unloaded;
}

Code find_function(void** made, void* handle, const char* kernel) {
  const std::lock_guard lock(loaded().mutex);
  const auto found = loaded().modules.find(handle);
  if (found == loaded().modules.end()) return vendor.unloaded;
  const Module& module = found->second;
  const std::string name = kernel;
  if (module.text.find(".entry " + name + "(") == std::string::npos &&
      module.text.find("void " + name + "(") == std::string::npos) {
    return not_found;
  }
  *made = next_handle();
  loaded().functions[*made] = {handle, module.context, name};
  return 0;
}

Code launch(void* handle, Stream stream, void** parameters) {
  std::optional<Program> program;
  {
    const std::lock_guard lock(loaded().mutex);
    const auto found = loaded().functions.find(handle);
    if (found == loaded().functions.end()) return invalid_handle;
    const Function& function = found->second;
    Context* const context = context_of(stream);
    if (context == nullptr) return vendor.destroyed;
    if (function.context != nullptr && function.context != context) return invalid_handle;
    if (function.name != device::delay_kernel) {
      const auto module = loaded().modules.find(function.module);
      if (module == loaded().modules.end()) return invalid_handle;
      program = Program::of(module->second.text, function.name, parameters);
      if (!program) return not_supported;
    }
  }
  if (program) {
    return submit(stream, [program] { return program->run() ? 0 : illegal_address; });
  }
  const Delay delay{parameter<std::int64_t>(parameters[0]),
                    static_cast<std::uintptr_t>(parameter<Address>(parameters[1])),
                    static_cast<std::uintptr_t>(parameter<Address>(parameters[2])),
                    parameter<unsigned>(parameters[3])};
  return submit(stream, [delay] { return delay.run() ? 0 : illegal_address; });
}

}  // namespace dlbench::fake

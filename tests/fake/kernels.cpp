#include "kernels.hpp"

#include <cstring>
#include <map>
#include <mutex>

#include "device.hpp"
#include "device/kernels.hpp"
#include "device/sim.hpp"

namespace dlbench::fake {

namespace {

constexpr device::Code not_supported = 801;

struct Loaded {
  std::mutex mutex;
  std::map<Module*, std::unique_ptr<Module>> modules;
};

Loaded& loaded() {
  static Loaded all;
  return all;
}

template <typename T>
T parameter(void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

}  // namespace

Module* load(const void* image) {
  const auto* const bytes = static_cast<const unsigned char*>(image);
  // An ELF file begins with 7F, a fat binary with 50 ED 55 BA.
  if (bytes == nullptr || bytes[0] == 0 || bytes[0] >= 0x7F || bytes[1] >= 0x7F) return nullptr;
  auto module = std::make_unique<Module>(Module{static_cast<const char*>(image), {}});
  Module* const key = module.get();
  const std::lock_guard lock(loaded().mutex);
  loaded().modules.emplace(key, std::move(module));
  return key;
}

bool unload(Module* module) {
  const std::lock_guard lock(loaded().mutex);
  return loaded().modules.erase(module) == 1;
}

Function* find(Module& module, const std::string& kernel) {
  if (module.text.find(".entry " + kernel + "(") == std::string::npos &&
      module.text.find("void " + kernel + "(") == std::string::npos) {
    return nullptr;
  }
  const std::lock_guard lock(loaded().mutex);
  return module.functions.emplace_back(std::make_unique<Function>(Function{kernel})).get();
}

device::Code launch(const Function& function, device::Stream stream, void** parameters) {
  if (function.name != device::delay_kernel) return not_supported;
  const auto ns = parameter<std::int64_t>(parameters[0]);
  const auto stamps = parameter<Address>(parameters[1]);
  const auto out = parameter<Address>(parameters[2]);
  const auto value = parameter<unsigned>(parameters[3]);
  return submit(stream, [=] {
    const std::int64_t begin = timer();
    device::sim::pass(ns, false);
    while (timer() - begin < ns) {
    }
    if (out != 0) __atomic_store_n(pointer<unsigned>(out), value, __ATOMIC_RELEASE);
    if (stamps != 0) {
      __atomic_store_n(pointer<std::int64_t>(stamps), begin, __ATOMIC_RELAXED);
      __atomic_store_n(pointer<std::int64_t>(stamps) + 1, timer(), __ATOMIC_RELEASE);
    }
  });
}

}  // namespace dlbench::fake

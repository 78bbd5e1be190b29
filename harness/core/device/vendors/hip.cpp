#include "device/vendors/hip.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace dlbench::device::hip {

namespace {

constexpr Code insufficient_driver = 35;
constexpr Code not_permitted = 800;

std::vector<std::string>& packages() {
  static std::vector<std::string> folders;
  return folders;
}

/// The runtimes in the wheels of torch (`torch`) and ROCm (`rocm-sdk-core`).
std::vector<std::string> in_packages() {
  std::vector<std::string> found;
  for (const std::string& folder : packages()) {
    for (const char* part : {"/torch/lib", "/_rocm_sdk_core/lib"}) {
      std::error_code absent;
      for (const auto& file : std::filesystem::directory_iterator(folder + part, absent)) {
        if (file.path().filename().string().starts_with(family)) found.push_back(file.path());
      }
    }
  }
  return found;
}

std::vector<std::string> names() {
  std::vector<std::string> all{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                               "libamdhip64.so"};
  const std::vector<std::string> wheels = in_packages();
  all.insert(all.end(), wheels.begin(), wheels.end());
  return all;
}

}  // namespace

State state_of(Code code, Access access) noexcept {
  if (code == 0) return State::Ok;
  // The runtime reports a denied device node as a missing device.
  if (access == Access::Denied || code == not_permitted) return State::NoPermission;
  if (code == insufficient_driver) return State::NoDriver;
  return code == no_device ? State::NoDevice : State::Failed;
}

FirstCalls Runtime::load() {
  FirstCalls first;
  each(api, [&](const char* name, auto& function) {
    set(function, library.symbol(name));
    if (function == nullptr && name == std::string_view(device_properties)) {
      set(function, library.symbol(device_properties_before));
    }
    if (function == nullptr && first.missing.empty()) first.missing = name;
  });
  if (!first.missing.empty()) return first;
  first.called = "hipRuntimeGetVersion";
  if ((first.code = api.runtime_get_version(&version)) != 0) return first;
  first.called = "hipGetDeviceCount";
  first.code = api.device_get_count(&backend.count);
  return first;
}

Runtime::Runtime() : library(family, names()) {
  open(*this, {"/dev/kfd", "the runtime is older than ROCm 5.2", state_of});
}

void search_packages(std::vector<std::string> folders) {
  packages() = std::move(folders);
}

Runtime& runtime() {
  // Never destroyed, because threads of other libraries may call the runtime until the process
  // ends.
  static Runtime& only = *std::make_unique<Runtime>().release();
  return only;
}

About about(const Runtime& runtime) {
  About facts{runtime.library.path(), {}, {}};
  if (runtime.version != 0) {
    facts.version = std::to_string(runtime.version / 10'000'000) + "." +
                    std::to_string(runtime.version / 100'000 % 100) + "." +
                    std::to_string(runtime.version % 100'000);
  }
  for (int device = 0; device < runtime.backend.count; ++device) {
    facts.units.push_back(unit_of<Uuid>(runtime.api, device, compute_mode));
  }
  return facts;
}

}  // namespace dlbench::device::hip

#include "device/hip.hpp"

#include <memory>

namespace dlbench::device::hip {

namespace {

constexpr Code insufficient_driver = 35;
constexpr Code not_permitted = 800;

}  // namespace

State state_of(Code code, Access access) noexcept {
  if (code == 0) return State::Ok;
  // A node that may not be opened comes back as no device.
  if (access == Access::Denied || code == not_permitted) return State::NoPermission;
  if (code == insufficient_driver) return State::NoDriver;
  return code == no_device ? State::NoDevice : State::Failed;
}

FirstCalls Runtime::load() {
  FirstCalls first;
  each(api, [&](const char* name, auto& function) {
    set(function, library.symbol(name));
    if (function == nullptr && first.missing.empty()) first.missing = name;
  });
  if (!first.missing.empty()) return first;
  first.called = "hipRuntimeGetVersion";
  if ((first.code = api.runtime_get_version(&version)) != 0) return first;
  first.called = "hipGetDeviceCount";
  first.code = api.get_device_count(&backend.count);
  return first;
}

Runtime::Runtime()
    : library("libamdhip64",
              {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {
  open(*this, {"/dev/kfd", "the runtime is older than ROCm 5.2", state_of});
}

Runtime& runtime() {
  // Never destroyed: other libraries' threads may call into the runtime until the process ends.
  static Runtime& only = *std::make_unique<Runtime>().release();
  return only;
}

}  // namespace dlbench::device::hip

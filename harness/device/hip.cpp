#include "device/hip.hpp"

#include <memory>
#include <string>

namespace dlbench::device::hip {

namespace {

constexpr Code insufficient_driver = 35;
constexpr Code no_device = 100;
constexpr Code not_permitted = 800;

constexpr const char* node = "/dev/kfd";

}  // namespace

State state_of(Code code, Access access) noexcept {
  if (code == 0) return State::Ok;
  // A node that may not be opened comes back as no device.
  if (access == Access::Denied || code == not_permitted) return State::NoPermission;
  if (code == insufficient_driver) return State::NoDriver;
  return code == no_device ? State::NoDevice : State::Failed;
}

Runtime::Runtime()
    : library("libamdhip64",
              {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}) {
  if (!library) {
    backend.state = library.found() ? State::Failed : State::NoLibrary;
    backend.said = library.said();
    return;
  }
  std::string missing;
  each(api, [&](const char* name, auto& function) {
    set(function, library.symbol(name));
    if (function == nullptr && missing.empty()) missing = name;
  });
  if (!missing.empty()) {
    backend.state = State::Failed;
    backend.said = library.path() + " has no " + missing + ": the runtime is older than ROCm 5.2";
    return;
  }
  fill(table, api);
  std::string called = "hipRuntimeGetVersion";
  Code code = api.runtime_get_version(&version);
  if (code == 0) {
    called = "hipGetDeviceCount";
    code = api.get_device_count(&backend.count);
    if (code == 0 && backend.count == 0) code = no_device;
  }
  backend.state = state_of(code, access_to(node));
  if (backend.state == State::Ok) {
    backend.table = &table;
    return;
  }
  backend.count = 0;
  backend.said = line(called, name_of(api, code), code);
  if (backend.state == State::NoPermission) {
    backend.said += std::string(", and ") + node + " may not be opened";
  }
}

Runtime& runtime() {
  // Never destroyed: other libraries' threads may call into the runtime until the process ends.
  static Runtime& only = *std::make_unique<Runtime>().release();
  return only;
}

}  // namespace dlbench::device::hip

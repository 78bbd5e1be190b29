#include "device/vendors/cuda.hpp"

#include <memory>

namespace dlbench::device::cuda {

namespace {

constexpr Code stub_library = 34;
constexpr Code insufficient_driver = 35;
constexpr Code not_found = 500;
constexpr Code not_permitted = 800;
constexpr Code system_driver_mismatch = 803;

}  // namespace

State state_of(Code code, Access access) noexcept {
  if (code == 0) return State::Ok;
  if (code == stub_library) return State::Stub;
  // Drivers report a denied device node with different errors.
  if (access == Access::Denied || code == not_permitted) return State::NoPermission;
  if (code == insufficient_driver || code == system_driver_mismatch) return State::NoDriver;
  return code == no_device ? State::NoDevice : State::Failed;
}

FirstCalls Driver::load() {
  set(api.get_proc_address, library.symbol("cuGetProcAddress"));
  if (api.get_proc_address == nullptr) return {"cuGetProcAddress", {}, {}};
  FirstCalls first{{}, "cuGetProcAddress", 0};
  each(api, [&](const char* name, auto& function) {
    if (first.code != 0 || !first.missing.empty()) return;
    void* address = nullptr;
    first.code = api.get_proc_address(name, &address, api_version, 0);
    set(function, address);
    if (first.code == not_found || (first.code == 0 && address == nullptr)) first.missing = name;
  });
  if (first.code != 0 || !first.missing.empty()) return first;
  first.called = "cuInit";
  if ((first.code = api.init(0)) != 0) return first;
  first.called = "cuDeviceGetCount";
  first.code = api.device_get_count(&backend.count);
  return first;
}

Driver::Driver() : library(family, {"libcuda.so.1", "libcuda.so"}) {
  open(*this, {"/dev/nvidiactl", "the driver is older than CUDA 11.4", state_of});
}

Driver& driver() {
  // Never destroyed, because threads of other libraries may call the driver until the process ends.
  static Driver& only = *std::make_unique<Driver>().release();
  return only;
}

About about(const Driver& driver) {
  const Api& api = driver.api;
  About facts{driver.library.path(), {}, {}};
  int version = 0;
  if (api.driver_get_version != nullptr && api.driver_get_version(&version) == 0) {
    facts.version = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  for (int number = 0; number < driver.backend.count; ++number) {
    Ordinal device = 0;
    const bool found = api.device_get(&device, number) == 0;
    facts.units.push_back(found ? unit_of<Uuid>(api, device, compute_mode) : Unit{});
  }
  return facts;
}

}  // namespace dlbench::device::cuda

#include "device/cuda.hpp"

#include <memory>
#include <string>

namespace dlbench::device::cuda {

namespace {

constexpr Code stub_library = 34;
constexpr Code insufficient_driver = 35;
constexpr Code no_device = 100;
constexpr Code not_found = 500;
constexpr Code not_permitted = 800;
constexpr Code system_driver_mismatch = 803;

/// None of the driver's: there is no such function.
constexpr Code missing = -1;

constexpr const char* node = "/dev/nvidiactl";

}  // namespace

State state_of(Code code, Access access) noexcept {
  if (code == 0) return State::Ok;
  if (code == stub_library) return State::Stub;
  // A node that may not be opened comes back as whatever the driver makes of it.
  if (access == Access::Denied || code == not_permitted) return State::NoPermission;
  if (code == insufficient_driver || code == system_driver_mismatch) return State::NoDriver;
  return code == no_device ? State::NoDevice : State::Failed;
}

/// Up to the number of devices; `called` is the function that gave the answer.
Code Driver::load(std::string& called) {
  called = "cuGetProcAddress";
  set(api.get_proc_address, library.symbol(called.c_str()));
  if (api.get_proc_address == nullptr) return missing;
  Code code = 0;
  each(api, [&](const char* name, auto& function) {
    if (code != 0) return;
    void* address = nullptr;
    code = api.get_proc_address(name, &address, api_version, 0);
    set(function, address);
    if (code == not_found || (code == 0 && address == nullptr)) {
      code = missing;
      called = name;
    }
  });
  if (code != 0) return code;
  called = "cuInit";
  if ((code = api.init(0)) != 0) return code;
  called = "cuDeviceGetCount";
  return api.device_get_count(&backend.count);
}

Driver::Driver() : library("libcuda.so", {"libcuda.so.1", "libcuda.so"}) {
  if (!library) {
    backend.state = library.found() ? State::Failed : State::NoLibrary;
    backend.said = library.said();
    return;
  }
  std::string called;
  Code code = load(called);
  if (code == missing) {
    backend.state = State::Failed;
    backend.said = library.path() + " has no " + called + ": the driver is older than CUDA 11.4";
    return;
  }
  fill(table, api);
  if (code == 0 && backend.count == 0) code = no_device;
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

Driver& driver() {
  // Never destroyed: other libraries' threads may call into the driver until the process ends.
  static Driver& only = *std::make_unique<Driver>().release();
  return only;
}

}  // namespace dlbench::device::cuda

#include "device/backends.hpp"

#include "device/library.hpp"
#include "device/sim.hpp"
#include "device/vendors/cuda.hpp"
#include "device/vendors/hip.hpp"

namespace dlbench::device {

const Backend* backend(std::string_view name) {
  static const Backend cpu{State::Ok, {}, 1, nullptr};
  static const Backend simulated{State::Ok, {}, 1, &sim::table()};
  if (name == "cpu") return &cpu;
  if (name == "sim") return &simulated;
  if (name == "cuda") return &cuda::driver().backend;
  if (name == "rocm") return &hip::runtime().backend;
  return nullptr;
}

std::vector<std::string> loaded_files_of(std::string_view name) {
  if (name == "cuda") return loaded_files(cuda::family);
  if (name == "rocm") return loaded_files(hip::family);
  return {};
}

}  // namespace dlbench::device

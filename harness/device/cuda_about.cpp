#include "device/cuda.hpp"

namespace dlbench::device::cuda {

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

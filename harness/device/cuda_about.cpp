#include "device/cuda.hpp"

namespace dlbench::device::cuda {

About about(const Driver& driver) {
  const Api& api = driver.api;
  About told{driver.library.path(), {}, {}};
  int version = 0;
  if (api.driver_get_version != nullptr && api.driver_get_version(&version) == 0) {
    told.version = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  for (int number = 0; number < driver.backend.count; ++number) {
    Unit& unit = told.units.emplace_back();
    Ordinal device = 0;
    if (api.device_get(&device, number) != 0) continue;
    char name[256] = {};
    Uuid uuid{};
    int mode = 0;
    if (api.device_get_name(name, sizeof name, device) == 0) unit.name = name;
    if (api.device_get_uuid(&uuid, device) == 0) unit.uuid = uuid_of(uuid.bytes);
    if (api.device_get_attribute(&mode, compute_mode, device) == 0) unit.mode = mode_of(mode);
  }
  return told;
}

}  // namespace dlbench::device::cuda

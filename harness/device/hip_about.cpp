#include "device/hip.hpp"

namespace dlbench::device::hip {

About about(const Runtime& runtime) {
  const Api& api = runtime.api;
  About told{runtime.library.path(), {}, {}};
  if (runtime.version != 0) {
    told.version = std::to_string(runtime.version / 10'000'000) + "." +
                   std::to_string(runtime.version / 100'000 % 100) + "." +
                   std::to_string(runtime.version % 100'000);
  }
  for (int device = 0; device < runtime.backend.count; ++device) {
    Unit& unit = told.units.emplace_back();
    char name[256] = {};
    Uuid uuid{};
    int mode = 0;
    if (api.device_get_name(name, sizeof name, device) == 0) unit.name = name;
    if (api.device_get_uuid(&uuid, device) == 0) unit.uuid = uuid_of(uuid.bytes);
    if (api.device_get_attribute(&mode, compute_mode, device) == 0) unit.mode = mode_of(mode);
  }
  return told;
}

}  // namespace dlbench::device::hip

#include "device/hip.hpp"

namespace dlbench::device::hip {

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

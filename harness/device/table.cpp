#include "device/table.hpp"

#include <array>

namespace dlbench::device {

std::string_view name_of(State state) noexcept {
  constexpr std::array<std::string_view, 7> names{
      "ok", "no-library", "stub", "no-driver", "no-device", "no-permission", "failed"};
  return names[static_cast<std::size_t>(state)];
}

}  // namespace dlbench::device

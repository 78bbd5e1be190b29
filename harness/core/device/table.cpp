#include "device/table.hpp"

#include <array>

namespace dlbench::device {

std::string line(const Table& table, std::string_view called, Code code) {
  return line(called, table.error_name(code), code);
}

std::string line(std::string_view called, std::string_view error_name, Code code) {
  return std::string(called) + ": " + std::string(error_name) + " (" + std::to_string(code) + ")";
}

std::string_view name_of(State state) noexcept {
  constexpr std::array<std::string_view, 7> names{
      "ok", "no-library", "stub", "no-driver", "no-device", "no-permission", "failed"};
  return names[static_cast<std::size_t>(state)];
}

}  // namespace dlbench::device

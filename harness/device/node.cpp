#include "device/node.hpp"

#include <unistd.h>

namespace dlbench::device {

Access access_to(const char* path) noexcept {
  if (access(path, F_OK) != 0) return Access::Absent;
  return access(path, R_OK | W_OK) == 0 ? Access::Open : Access::Denied;
}

}  // namespace dlbench::device

#pragma once

namespace dlbench::device {

/// May this user open a device node of the kernel?
enum class Access { Absent, Denied, Open };

Access access_to(const char* path) noexcept;

}  // namespace dlbench::device

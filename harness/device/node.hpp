#pragma once

namespace dlbench::device {

/// Whether this user may open a device node of the kernel.
enum class Access { Absent, Denied, Open };

Access access_to(const char* path) noexcept;

}  // namespace dlbench::device

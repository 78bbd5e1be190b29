#pragma once

#include <string_view>

namespace dlbench {

/// "0.1.0".
std::string_view version();

/// The version and a hash of the sources. Parent and worker compare it: their wire must agree.
std::string_view build_id();

}  // namespace dlbench

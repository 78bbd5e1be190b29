#pragma once

#include <string_view>

namespace dlbench {

/// "0.1.0".
std::string_view version();

/// The version and a hash of the sources. Parent and worker compare it, because both must use the
/// same wire format.
std::string_view build_id();

}  // namespace dlbench

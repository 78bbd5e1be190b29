#pragma once

#include <string>

#include "plan/plan.hpp"

namespace dlbench::plan {

/// 16 hex digits (FNV-1a) of the names of all cells, the excluded ones too, and of the installed
/// libraries' versions. The same on every machine.
std::string fingerprint(const Plan& plan);

}  // namespace dlbench::plan

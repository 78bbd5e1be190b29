#pragma once

#include <string>

#include "supervisor/plan/plan.hpp"

namespace dlbench::plan {

/// A hash (FNV-1a, 16 hex digits) of the names of all cells, including the excluded ones, and of
/// the versions of the installed libraries. It is the same on every machine.
std::string fingerprint(const Plan& plan);

}  // namespace dlbench::plan

#pragma once

#include <functional>

#include "trace/range.hpp"

namespace dlbench::worker {

/// Receives each part of an exchange, and runs it: in a range, or while something counts.
using Around = std::function<void(trace::Category part, const std::function<void()>& part_itself)>;

}  // namespace dlbench::worker

#pragma once

#include <functional>

#include "trace/range.hpp"

namespace dlbench::worker {

/// Is handed each part of an exchange, and does it: in a range, or while something counts.
using Around = std::function<void(trace::Category part, const std::function<void()>& part_itself)>;

}  // namespace dlbench::worker

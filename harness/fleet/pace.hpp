#pragma once

#include <span>

#include "fleet/task.hpp"

namespace dlbench::fleet {

/// Asked for at once: a few rounds of the usual length, or a single long one.
inline constexpr double kBurstNs = 24e6;

/// How long its next round will take, estimated.
double duration_ns(std::span<const Task> tasks, const Pick& pick);

/// Is another round of it worth having? Very long rounds end early: see is_enough.
bool is_due(std::span<const Task> tasks, const Pick& pick);

}  // namespace dlbench::fleet

#pragma once

#include <span>

#include "fleet/task.hpp"
#include "fleet/wire.hpp"

namespace dlbench::fleet {

/// Asked for at once: a few rounds of the usual length, or a single long one.
inline constexpr double kBurstNs = 24e6;

/// How long its next round will take, estimated.
double duration_ns(std::span<const Task> tasks, const Pick& pick);

/// Adds a round to what was measured of a cell, or of the phases of an exchange. Returns the
/// seconds that it took.
double add_round(const RoundTime& time, Samples& samples);
double add_phases(const PhaseTime& time, PhaseRounds& phases);

/// Is another round of it worth having? Very long rounds end early: see is_enough.
bool is_due(std::span<const Task> tasks, const Pick& pick);

}  // namespace dlbench::fleet

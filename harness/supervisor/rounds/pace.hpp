#pragma once

#include "supervisor/rounds/task.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {

/// The duration in ns of the rounds that are requested at once: several rounds of the usual length,
/// or one long round.
inline constexpr double kBurstNs = 24e6;

/// The expected duration of the next round.
double duration_ns(const Pick& pick);

/// The duration of a round in ns.
double spent_ns(const RoundTime& time, const Samples& samples);
double spent_ns(const PhaseTime& time, const PhaseRounds& phases);

/// Adds a round to the samples of a cell. Returns its duration in seconds.
double add_round(const RoundTime& time, Samples& samples);
void add_phases(const PhaseTime& time, PhaseRounds& phases);

/// Should another round be measured? Very long rounds end early, see is_enough().
bool is_due(const Pick& pick);

}  // namespace dlbench::supervisor

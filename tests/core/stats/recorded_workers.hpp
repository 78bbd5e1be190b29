#pragma once

#include <span>

namespace dlbench::stats {

/// What one worker after another measured of native -> native, a process's median each, ns: the
/// runs of several matrices on an ordinary, shared machine.
std::span<const std::span<const double>> recorded_workers();

}  // namespace dlbench::stats

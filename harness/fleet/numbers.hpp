#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fleet/phases.hpp"
#include "fleet/task.hpp"
#include "model/entry.hpp"
#include "stats/stopping.hpp"

namespace dlbench::fleet {

/// What every cell gets first.
inline constexpr std::size_t kCoarseRounds = stats::Stopping{}.first;

/// Enough to be shown: six rounds, or what two seconds of rounds gave; three at least in which the
/// device did not wait for the host.
bool is_enough(const Samples& samples);

/// Of at least one round on the clock `device`.
DeviceTimer device_timer(const Samples& samples);

/// Has a device waited for the host in nearly all rounds, so that more of them would not help?
bool is_host_late(const Samples& samples);

/// The most that an exchange can take on a device, and why its time is not known better: one of
/// `step` (of the device's timer), `empty-rows` and `rounds`, which scatter.
struct Bound {
  double ns = 0;
  std::string_view limit;
  double limit_ns = 0;  ///< the step; how far the empty rows scatter; the rounds' 95 % interval
  bool is_final =
      false;  ///< the interval does not reach above the resolution: more rounds would not help
};

/// Where the interval of an exchange's time on the device reaches below the timer's resolution;
/// nothing where it does not, and on other clocks.
std::optional<Bound> below_resolution(const Samples& samples);

/// Rounds in which the core was slow: its canary took half as long again as this worker's best.
std::size_t slow_rounds(const Samples& samples, double best_canary_ns);

/// Of a cell's rounds, how many were disturbed, and by what.
struct Disturbed {
  std::size_t moved = 0, preempted = 0, slow = 0, behind = 0;
};

/// What one worker brought home of a cell.
struct Share {
  WorkerNumbers numbers;
  std::uint64_t iterations = 0;
  double cpu_ns = 0;    ///< median over the rounds
  double floor_ns = 0;  ///< 0 where it is not known
  Disturbed disturbed;
  std::optional<DeviceTimer> device_timer{};  ///< on the clock `device`
  double data_ns = 0;    ///< until the consumer's data was there; 0 where that was not measured
  PhaseRounds phases{};  ///< of a whole exchange; without rounds where they were not measured
};

/// Median, interval, MAD, CPU time, floor ratio, of a copy the rate, and the instruction breakdown
/// where phases were measured, from at least one share. Of workers that disagree each keeps its
/// outcome, and the rate is that of those which copied; where their iterations differ each keeps
/// its own. Warns of rounds that are too few, bimodal, drifting, and of a third of them, three at
/// least, that changed their core, were preempted, ran on a slow one, or had a device
/// wait for the host; and of workers that disagree. Several workers: the median of their medians,
/// and an interval that holds each of theirs.
void fill_numbers(Entry& entry, std::span<const Share> shares);

}  // namespace dlbench::fleet

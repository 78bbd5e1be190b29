#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/entry.hpp"
#include "stats/stopping.hpp"
#include "supervisor/rounds/phases.hpp"
#include "supervisor/rounds/task.hpp"

namespace dlbench::supervisor {

/// The number of rounds that every cell gets first.
inline constexpr std::size_t kCoarseRounds = stats::Stopping{}.first;

/// Are there enough rounds for a result? Six rounds, or fewer if they took two seconds; at least
/// three of them without a device that waited for the host.
bool is_enough(const Samples& samples);

/// Needs at least one round on the clock `device`.
DeviceTimer device_timer(const Samples& samples);

/// Did the device wait for the host in nearly all rounds, so that more rounds would not help?
bool is_host_late(const Samples& samples);

/// An upper bound on the time of an exchange on a device. `limit` is the reason why the bound is
/// not lower: `step` (of the device's timer), or the spread of `empty-rows` or of `rounds`.
struct Bound {
  double ns = 0;
  std::string_view limit;
  /// The step, the spread of the empty rows, or the width of the rounds' 95 % interval.
  double limit_ns = 0;
  bool is_final = false;  ///< the interval is below the resolution, so more rounds would not help
};

/// The bound for an exchange on the clock `device` if its interval begins below the timer's
/// resolution; otherwise nothing.
std::optional<Bound> below_resolution(const Samples& samples);

/// The speed of the cores that rounds ran on, by the time of the same canary in each.
class CoreSpeed {
 public:
  /// Adds the canary's time in a round; 0: not measured. Was the core slow? Then the canary took
  /// 1.2 times as long as the best, because the clock rate fell or another thread used the core's
  /// other hyperthread.
  bool add_slow(double canary_ns) {
    if (canary_ns > 0) best_ns_ = std::min(best_ns_, canary_ns);
    return is_slow(canary_ns);
  }
  bool is_slow(double canary_ns) const { return canary_ns > 1.2 * best_ns_; }
  std::size_t slow_rounds(std::span<const double> canary_ns) const;

 private:
  double best_ns_ = std::numeric_limits<double>::infinity();
};

/// The mean of the lower half of the canary's times, because some rounds may have had a slow core;
/// none if it was not measured in each round.
std::optional<double> core_ns(std::vector<double> canary_ns);

/// Are so many rounds disturbed that the median may be affected?
bool are_many(std::size_t disturbed, std::size_t rounds);

/// The numbers of disturbed rounds of a cell, by cause.
struct Disturbed {
  std::size_t moved = 0, preempted = 0, slow = 0, behind = 0;
};

/// What one worker measured of a cell.
struct Share {
  WorkerNumbers numbers;
  std::uint64_t iterations = 0;
  std::vector<double> canary_ns{};  ///< of each round
  double cpu_ns = 0;                ///< median over the rounds
  double floor_ns = 0;              ///< 0 if unknown
  Disturbed disturbed;
  std::optional<DeviceTimer> device_timer{};  ///< on the clock `device`
  double data_ns = 0;    ///< until the consumer's data was complete; 0 if not measured
  PhaseRounds phases{};  ///< of a whole exchange; without rounds if not measured
};

/// The fewest workers of which one can be seen to be slow.
inline constexpr std::size_t kFewestComparable = 3;

/// Did the worker have a slow core in a third of its rounds?
bool had_slow_core(const Share& share);

/// The share of the slowest worker, if something else explains why it is slow: a third of its
/// rounds were preempted or moved to another core, or one of them was as fast as the others, of
/// which no round was as slow. Its median is more than a quarter above that of the others, which
/// found the same outcome.
std::optional<std::size_t> disturbed_share(std::span<const Share> shares);

/// Computes the numbers of an entry from at least one share: median, interval, MAD, CPU time, floor
/// ratio, copy rate, and the breakdown if phases were measured. The median over several workers is
/// the median of their medians, and the interval contains each worker's interval. If outcomes or
/// iterations of workers differ, each worker keeps its own; the copy rate is that of the workers
/// that copied.
///
/// Warns if rounds are too few, bimodal or drifting, if workers disagree, and if at least three
/// rounds and a third of all changed their core, were preempted, ran on a slow core, or had a
/// device wait for the host.
///
/// `other_phases` are those of workers whose times are left out. They count if no share has phases:
/// who replaces a worker does not measure phases that are recorded.
void fill_numbers(Entry& entry, std::span<const Share> shares,
                  std::span<const PhaseRounds> other_phases = {});

}  // namespace dlbench::supervisor

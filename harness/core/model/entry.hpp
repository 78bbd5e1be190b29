#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/capture.hpp"
#include "model/cell.hpp"
#include "model/failure.hpp"
#include "model/ordering.hpp"
#include "model/outcome.hpp"
#include "model/warning.hpp"

namespace dlbench {

/// The result of each instrument for the claim "no bytes were copied".
struct Evidence {
  Proof address = Proof::skipped;
  Proof guard = Proof::skipped;
  Proof write = Proof::skipped;
  Proof slope = Proof::skipped;
};

/// The accesses of one exchange to the guarded pages of the source.
struct GuardCounts {
  std::uint64_t pages = 0;  ///< whole pages inside the array
  std::uint64_t read = 0;   ///< of these, pages that code other than dlbench's read
  std::uint64_t written = 0;
  std::uint64_t late = 0;       ///< of `read`, after the call had returned
  std::vector<std::string> by;  ///< file names of the libraries that read
};

/// Observations of the consumer's call.
struct Observation {
  std::string used;  ///< the protocol that transferred the data; "own" if the consumer made no
                     ///< request or could not be observed
  /// "direct" or "proxy"; "exports": an object of dlbench that calls the library's export function;
  /// "recorder": a recording proxy, for `convert`
  std::string via = "direct";
  std::vector<std::string> calls;      ///< in order: "__dlpack__(max_version=(1,0))"; a failed call
                                       ///< ends with " -> TypeError"
  std::string struct_name;             ///< JSON key `struct`: "legacy", "versioned" or empty
  std::vector<std::uint32_t> version;  ///< {major, minor} of a versioned struct
  std::vector<std::string> flags;      ///< "read-only", "is-copied", "subbyte-padded"
  std::optional<GuardCounts> guard;    ///< absent where no page guard was used
};

/// The time of an exchange, divided into its phases. Times are in ns: medians over the rounds of
/// the phases.
struct Breakdown {
  struct Part {
    std::string phase;
    std::string what;  ///< "__dlpack_device__()", or another step
    double ns = 0;
    std::string failed_by{};  ///< "producer" or "proxy", where the request failed
  };
  std::string via;               ///< the object in place of the array: "proxy", "type" or "capsule"
  double exchange_ns = 0;        ///< the whole exchange, in the same rounds
  double unexplained_ns = 0;     ///< exchange minus all phases; signed
  double unexplained_lo_ns = 0;  ///< 95 % interval of unexplained_ns, from order statistics
  double unexplained_hi_ns = 0;
  std::vector<Part> parts;  ///< in the order of time
};

/// Calls of the CUDA driver in one exchange, by kApiKinds.
struct ApiCalls {
  using ByKind = std::map<std::string, std::uint64_t>;
  ByKind calls;
  std::map<std::string, ByKind> phases;  ///< empty where the phases could not be separated
};

/// Facts about the timer behind the clock `device`.
struct DeviceTimer {
  double step_ns = 0;     ///< the smallest difference between two elapsed times
  double empty_ns = 0;    ///< median time of an empty row, which is subtracted from every row
  double scatter_ns = 0;  ///< three times the median absolute deviation of empty rows
};

/// The shortest exchange, in ns, that this timer can distinguish from zero in a row of `iterations`
/// exchanges. The error of an elapsed time is below one step, so that of a difference is below two.
inline double resolution_ns(const DeviceTimer& timer, std::uint64_t iterations) {
  return std::max(2 * timer.step_ns, timer.scatter_ns) / static_cast<double>(iterations);
}

/// What one worker measured of a cell.
struct WorkerNumbers {
  double median_ns = 0;
  double first_ns = 0;             ///< the first call, which no round includes
  std::vector<double> samples_ns;  ///< mean of each round, in the order of the rounds
  /// Time of a fixed computation beside the rounds, which shows the speed of the core. None on a
  /// device's clock.
  std::optional<double> core_ns{};
  std::optional<Outcome> outcome{};  ///< set where the cell's workers disagree
  /// Set where they differ: each worker calibrates its own number.
  std::optional<std::uint64_t> iterations{};
};

/// A recorded cell: numbers if it was measured, otherwise why not.
struct Entry : Failure {
  Cell cell;

  // Measured.
  double median_ns = 0, lo_ns = 0, hi_ns = 0, mad_ns = 0, cpu_ns = 0;
  /// Kind of the interval lo_ns..hi_ns (results/interval.hpp); empty: unknown.
  std::string interval;
  /// Relative half-width of the 95 % prediction interval for one process; none where it is unknown
  /// for exchanges of this length.
  std::optional<double> between_half_width;
  std::uint64_t iterations = 0;        ///< calls in one round; the median over several workers
  double floor_ratio = 0;              ///< median divided by the overhead floor of its kind of call
  std::optional<double> gb_per_s;      ///< of copies, until `ready`; in 10^9 bytes a second
  std::optional<double> instructions;  ///< of one exchange, where they were counted
  std::optional<ApiCalls> api_calls;   ///< of one exchange, where they were counted
  std::optional<DeviceTimer> device_timer;  ///< only on the clock `device`
  std::vector<std::string> changed;
  /// Of source and result that share memory, which may be written to: "both", "source", "result",
  /// "neither", or empty if unknown.
  std::string writable;
  std::string copied_by;  ///< "producer", "consumer" or empty
  bool late_read = false;
  bool has_ready = false;  ///< the data may not be complete at the end of the clock `call`
  Evidence evidence;
  Observation observed;
  std::optional<Breakdown> breakdown;  ///< of an exchange whose phases were measured
  Warnings warnings;
  std::vector<WorkerNumbers> workers;

  // Of a measured cell or a race whose synchronization was tested.
  std::vector<Ordering> sync;    ///< one a stream argument
  std::string late_free;         ///< "safe", "late", "inconclusive" or empty
  std::vector<Capture> capture;  ///< one a stream argument and stream of the producer

  // Not measured.
  /// Upper bound on the time of a "below-resolution" exchange; its time is unknown.
  std::optional<double> below_ns;
  /// The outcome of a cell that was exchanged but not timed. Its evidence is then filled in too.
  std::optional<Outcome> found;
};

/// The entry of a cell without a number.
inline Entry failed_entry(const Cell& cell, const Failure& failure) {
  Entry entry;
  static_cast<Failure&>(entry) = failure;
  entry.cell = cell;
  return entry;
}

/// Is the cell finished? A cell that was not run may be tried again.
inline bool is_final(const Entry& entry) {
  return entry.outcome != Outcome::not_run || entry.found.has_value();
}

}  // namespace dlbench

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cell.hpp"
#include "model/ordering.hpp"
#include "model/outcome.hpp"
#include "model/warning.hpp"

namespace dlbench {

/// Result of each instrument for "no bytes were copied".
struct Evidence {
  Proof address = Proof::skipped;
  Proof guard = Proof::skipped;
  Proof write = Proof::skipped;
  Proof slope = Proof::skipped;
};

/// The accesses of one exchange to the guarded pages of the source.
struct GuardSeen {
  std::uint64_t pages = 0;  ///< whole pages inside the array
  std::uint64_t read = 0;   ///< of these, read by code other than dlbench's
  std::uint64_t written = 0;
  std::uint64_t late = 0;       ///< of `read`, after the call had returned
  std::vector<std::string> by;  ///< file names of the libraries that read
};

/// What was observed of the consumer's call.
struct Seen {
  std::string used;  ///< the protocol that carried the bytes; "own" where the consumer requested
                     ///< none, or could not be observed
  std::string via = "direct";  ///< or "proxy"; "exports": an object of ours answered by
                               ///< the library's own call; "recorder": a recording proxy saw it,
                               ///< for `convert`
  std::vector<std::string> calls;      ///< in order: "__dlpack__(max_version=(1,0))", failures
                                       ///< with " -> TypeError" behind
  std::string struct_name;             ///< JSON key `struct`: "legacy", "versioned" or empty
  std::vector<std::uint32_t> version;  ///< {major, minor} of a versioned struct
  std::vector<std::string> flags;      ///< "read-only", "is-copied", "subbyte-padded"
  std::optional<GuardSeen> guard;      ///< absent where no page guard was used
};

/// How the phases of an exchange add up to it. Times in ns: medians over the rounds of the phases.
struct Breakdown {
  struct Part {
    std::string phase;
    std::string what;  ///< "__dlpack_device__()", or another step
    double ns = 0;
    std::string failed_by{};  ///< "producer" or "proxy", where the request failed
  };
  std::string via;               ///< the object in place of the array: "proxy", "type" or "capsule"
  double exchange_ns = 0;        ///< the whole exchange, in the same rounds
  double unexplained_ns = 0;     ///< exchange less all phases; signed
  double unexplained_lo_ns = 0;  ///< 95 % interval of that, by order statistics
  double unexplained_hi_ns = 0;
  std::vector<Part> parts;  ///< in the order of time
};

/// Calls of the CUDA driver in one exchange, by kApiKinds.
struct ApiCalls {
  using ByKind = std::map<std::string, std::uint64_t>;
  ByKind calls;
  std::map<std::string, ByKind> phases;  ///< empty where the exchange could not be taken apart
};

/// Facts about the timer behind the clock `device`.
struct DeviceTimer {
  double step_ns = 0;     ///< the smallest difference between two elapsed times
  double empty_ns = 0;    ///< what an empty row takes, median; every row has it subtracted
  double scatter_ns = 0;  ///< spread of empty rows: three times their median absolute deviation
};

/// The shortest exchange that this timer can distinguish from zero, in rows of this many. An
/// elapsed time is off by less than a step, so the difference of two is off by less than two.
inline double resolution_ns(const DeviceTimer& timer, std::uint64_t iterations) {
  return std::max(2 * timer.step_ns, timer.scatter_ns) / static_cast<double>(iterations);
}

/// One worker's share of a cell.
struct WorkerNumbers {
  double median_ns = 0;
  double first_ns = 0;                        ///< the first call, which no round holds
  std::vector<double> samples_ns;             ///< mean of each round, in the order of the rounds
  std::optional<Outcome> outcome{};           ///< its own, where the cell's workers disagree
  std::optional<std::uint64_t> iterations{};  ///< likewise; each worker calibrates its own
};

/// A recorded cell: numbers where it was measured, else a reason.
struct Entry {
  Cell cell;
  Outcome outcome = Outcome::not_run;
  std::vector<std::string> imports;  ///< two libraries in the order in which the worker imported
                                     ///< them; empty where it imported fewer

  // Measured.
  double median_ns = 0, lo_ns = 0, hi_ns = 0, mad_ns = 0, cpu_ns = 0;
  std::string interval;  ///< the kind of lo_ns and hi_ns (results/interval.hpp); empty: unknown
  /// Relative half-width of the 95 % prediction interval for one process; none if unknown for this
  /// length.
  std::optional<double> between_half_width;
  std::uint64_t iterations = 0;             ///< calls in one round; of several workers the median
  double floor_ratio = 0;                   ///< median over the floor of its kind of call
  std::optional<double> gb_per_s;           ///< copies only, taken to `ready`; 10^9 bytes a second
  std::optional<double> instructions;       ///< of one exchange, where they were counted
  std::optional<ApiCalls> api_calls;        ///< of one exchange, where they were counted
  std::optional<DeviceTimer> device_timer;  ///< on the clock `device` alone
  std::vector<std::string> changed;
  std::string copied_by;  ///< "producer", "consumer" or empty
  bool late_read = false;
  bool has_ready = false;  ///< the data may come after the clock `call`
  Evidence evidence;
  Seen seen;
  std::optional<Breakdown> breakdown;  ///< of an exchange whose phases were measured
  Warnings warnings;
  std::vector<WorkerNumbers> workers;

  // Measured or a race, where synchronization was tested.
  std::vector<Ordering> sync;  ///< one a stream argument
  std::string late_free;       ///< "safe", "late", "inconclusive" or empty

  // Not measured.
  std::string reason;
  std::string exception;    ///< the exception's type
  std::string signal;       ///< "SIGSEGV"
  std::string stderr_tail;  ///< the last lines of the worker's stderr
  std::string code;         ///< of codes.hpp; empty: nothing is known beyond the outcome
  std::map<std::string, std::string> data;  ///< values for the names in the code's meaning
  /// Of "below-resolution": the exchange takes less than this; its time is unknown.
  std::optional<double> below_ns;
  /// Of a cell that was tried and has no time: the outcome that it would have. Evidence is then
  /// filled too.
  std::optional<Outcome> found;
};

/// Is the cell finished? A cell that was not run may be tried again.
inline bool is_final(const Entry& entry) {
  return entry.outcome != Outcome::not_run || entry.found.has_value();
}

}  // namespace dlbench

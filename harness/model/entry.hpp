#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cell.hpp"
#include "model/ordering.hpp"
#include "model/outcome.hpp"
#include "model/warning.hpp"

namespace dlbench {

/// What each instrument said on "no bytes were copied" (design 4.2).
struct Evidence {
  Proof address = Proof::skipped;
  Proof guard = Proof::skipped;
  Proof write = Proof::skipped;
  Proof slope = Proof::skipped;
};

/// What a guard saw of one exchange: pages of the source that were taken away around it.
struct GuardSeen {
  std::uint64_t pages = 0;  ///< whole pages inside the array
  std::uint64_t read = 0;   ///< of these, by others than dlbench
  std::uint64_t written = 0;
  std::uint64_t late = 0;       ///< of `read`, after the call had returned
  std::vector<std::string> by;  ///< file names of the libraries at fault
};

/// What was seen to happen when the consumer was called.
struct Seen {
  std::string used;            ///< the protocol that carried the bytes; "own" where the
                               ///< consumer was seen asking for none, or was not seen
  std::string via = "direct";  ///< or "proxy"; "exports": an object of ours answered by
                               ///< the library's own call; "recorder": a recording proxy saw it,
                               ///< for `convert`
  std::vector<std::string> calls;      ///< in order: "__dlpack__(max_version=(1,0))", failures
                                       ///< with " -> TypeError" behind
  std::string struct_name;             ///< JSON key `struct`: "legacy", "versioned" or empty
  std::vector<std::uint32_t> version;  ///< {major, minor} of a versioned struct
  std::vector<std::string> flags;      ///< "read-only", "is-copied", "subbyte-padded"
  std::optional<GuardSeen> guard;      ///< absent where no guard looked
};

/// How the phases of an exchange add up to it. Times in ns, medians over the rounds of the phases.
struct Breakdown {
  struct Part {
    std::string phase;
    std::string what;  ///< "__dlpack_device__()", or what else was done
    double ns = 0;
    std::string failed_by{};  ///< "producer" or "proxy", where it was tried in vain
  };
  std::string via;               ///< what answered for the array: "proxy", "type" or "capsule"
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
  std::map<std::string, ByKind> phases;  ///< empty where it could not be taken apart
};

/// What an interval can be: 95 % from the rounds of one process, or from the medians of several;
/// else the range of fewer than six rounds of one process, whose coverage is not known.
inline constexpr std::array<std::string_view, 3> kIntervals{"within", "processes", "range"};

/// What is known of the timer behind the clock `device`.
struct DeviceTimer {
  double step_ns = 0;     ///< the smallest difference between two elapsed times
  double empty_ns = 0;    ///< what an empty row takes, median; every row has it subtracted
  double scatter_ns = 0;  ///< of empty rows: three times their median absolute deviation
};

/// The least time of an exchange that such a timer can tell from none, in rows of so many. An
/// elapsed time is off by less than a step, so the difference of two is off by less than two.
inline double resolution_ns(const DeviceTimer& timer, std::uint64_t iterations) {
  return std::max(2 * timer.step_ns, timer.scatter_ns) / static_cast<double>(iterations);
}

/// One worker's share of a cell.
struct WorkerNumbers {
  double median_ns = 0;
  double first_ns = 0;                        ///< the first call, which no round holds
  std::vector<double> samples_ns;             ///< a round's mean each, in the order of the rounds
  std::optional<Outcome> outcome{};           ///< its own, where the cell's workers disagree
  std::optional<std::uint64_t> iterations{};  ///< likewise, each having calibrated its own
};

/// A recorded cell: numbers where it was measured, else a reason.
struct Entry {
  Cell cell;
  Outcome outcome = Outcome::not_run;
  std::vector<std::string> imports;  ///< two libraries in the order in which the worker imported
                                     ///< them; empty where it imported fewer

  // Measured.
  double median_ns = 0, lo_ns = 0, hi_ns = 0, mad_ns = 0, cpu_ns = 0;
  std::string interval;  ///< what lo_ns and hi_ns are, of kIntervals; empty: not known
  /// How far one process may lie off, relative, at 95 %; none: nothing is known at this length.
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

  // Measured or a race, where somebody looked.
  std::vector<Ordering> sync;  ///< one a stream argument
  std::string late_free;       ///< of kLateFree, or empty

  // Not measured.
  std::string reason;
  std::string exception;    ///< the exception's type
  std::string signal;       ///< "SIGSEGV"
  std::string stderr_tail;  ///< the worker's last words
  std::string code;         ///< of codes.hpp; empty: nothing is known beyond the outcome
  std::map<std::string, std::string> data;  ///< what the code's meaning names
  /// Of "below-resolution": the exchange takes less than this, and no number is known.
  std::optional<double> below_ns;
  /// Of what was tried and has no time, the outcome that it would have; evidence and the like
  /// beside it are then filled too.
  std::optional<Outcome> found;
};

/// Is there nothing left to do for it? What was not run may be tried again.
inline bool is_final(const Entry& entry) {
  return entry.outcome != Outcome::not_run || entry.found.has_value();
}

}  // namespace dlbench

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cell.hpp"
#include "model/entry.hpp"

namespace dlbench::plan {

/// The facts of a library before any worker starts: its two files and its package's metadata.
struct Library {
  std::string name;
  std::string environment = "default";
  bool installed = false;
  std::string version;        ///< of the distribution that was found
  std::string why_not;        ///< where not installed: "pip install torch" and the like
  std::string producer_path;  ///< empty: it has no such role
  std::string consumer_path;
  std::vector<std::string> protocols;  ///< keys of the consumer's PROTOCOLS
  /// Where its arrays can lie, as far as it is known: "sycl:0", or a kind, "cuda".
  std::vector<std::string> devices{"cpu"};
  bool has_ready = false;  ///< one of its files defines `ready`: its calls return before the data
  bool crosses = false;    ///< its consumer's file has calls from one device to another
  bool in_default_matrix = true;
  bool hidden = false;  ///< used only where it is named: "all" passes it over
  /// The outcome of its cells if it is not installed, or if no worker can start in its environment.
  Outcome absence = Outcome::not_installed;
};

/// A kind of device as this machine has it.
struct DeviceKind {
  std::string name;  ///< cuda, rocm
  int count = 0;
  std::string why_not;  ///< one line where `count` is 0
};

/// The request. An empty list means the default; the word "all" in a list means all that is
/// known: for libraries also those outside the default matrix and those not installed, but for the
/// hidden ones.
struct Axes {
  std::vector<std::string> environments{"default"};
  std::vector<std::string> producers;
  std::vector<std::string> consumers;
  std::vector<std::string> protocols;  ///< default: dlpack, dlpack_c, convert
  /// Default: cpu, what DEVICES literals name with a number, and the first GPU.
  std::vector<std::string> devices;
  std::vector<std::string> cases;    ///< default: f32; "all" is a case sweep, see Plan::case_sweep
  std::vector<std::uint64_t> sizes;  ///< default: 4 KiB, 256 KiB, 4 MiB; of all cases 64 KiB
  std::vector<std::string> phases;   ///< default: exchange
  std::string filter;                ///< regex on the cell's name
  /// The kinds whose driver was queried; others are known once a worker has started.
  std::vector<DeviceKind> device_kinds;
};

/// How a case lays its array out; `bytes` of the cell decides how many elements.
struct Case {
  std::string name;
  std::string group = "";  ///< dtypes, layouts, alignments or flags
  std::string dtype = "float32";
  std::string layout = "line";  ///< a word of LAYOUTS in dlbench/case.py
  std::uint64_t offset = 0;     ///< bytes behind an address aligned to `align`
  std::uint64_t align = 256;
  bool readonly = false;
  std::string special = "";  ///< a property that only some libraries have: "swapped", "grad",
                             ///< "pinned", "managed", "nulls"
};
/// The case that others are compared with: a plain array that no library needs to copy.
inline constexpr const char* kBaseline = "f32";

/// In the order in which they are printed, kBaseline first.
const std::vector<Case>& all_cases();

/// Throws UsageError.
const Case& case_named(const std::string& name);

/// The values of `--cases`: every case, and the groups.
std::vector<std::string> case_words();

/// Size of one element of a case's dtype.
std::uint64_t element_bytes(const Case& array_case);

/// The sizes of the cells of a case where these were requested: a case of no or one element has one
/// size of its own.
std::vector<std::uint64_t> sizes_of(const Case& array_case,
                                    const std::vector<std::uint64_t>& asked);

/// Two libraries in one environment, both directions. `first` <= `second`; equal for a library with
/// itself.
struct Pair {
  std::string environment;
  std::string first;
  std::string second;
  std::vector<std::size_t> cells;  ///< indices into Plan::cells
};

struct Plan {
  std::vector<Library> libraries;
  std::vector<Cell> cells;      ///< to be tried, in pairs' order
  std::vector<Entry> excluded;  ///< recorded without a worker: not-installed, no-device, ...
  std::vector<Pair> pairs;      ///< a library with itself first
  bool case_sweep = false;      ///< every case was requested: only those with another outcome than
                                ///< kBaseline are timed
  std::string fingerprint;      ///< of cells and versions; a resumed run must have the same
  std::string whole;            ///< that of the plan of which this is a shard; else the same

  /// Throws UsageError where there is none.
  const Library& library(const std::string& environment, const std::string& name) const;

  /// Has it a clock `ready`, whether or not the filter left that cell in? Throws UsageError.
  bool has_ready(const Exchange& exchange) const;
};

/// Expands the axes. Throws UsageError for unknown libraries (with the nearest name), protocols,
/// devices, cases, a size that holds no element of a case, or a filter that is no regex.
/// Every cell of the product is in `cells` or in `excluded`, but for those that the filter drops.
/// Clocks: `call` for each exchange, and `ready` beside it where the consumer has a `ready`; for
/// the others the data is there when the call returns, and a second number would add nothing.
/// The phases other than `exchange` have the clock `call` alone.
Plan make(std::vector<Library> libraries, const Axes& axes);

}  // namespace dlbench::plan

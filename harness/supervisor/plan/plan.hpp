#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cell.hpp"
#include "model/entry.hpp"
#include "supervisor/plan/cases.hpp"

namespace dlbench::plan {

/// A library as known before any worker starts: from its two adapter files and the metadata of its
/// package.
struct Library {
  std::string name;
  std::string environment = "default";
  bool installed = false;
  std::string version;        ///< of the distribution that was found
  std::string why_not;        ///< if not installed: "pip install torch" or another reason
  std::string producer_path;  ///< empty: it does not have this role
  std::string consumer_path;
  std::vector<std::string> protocols;  ///< keys of the consumer's PROTOCOLS
  /// The devices of its arrays, as far as known: "sycl:0", or a kind such as "cuda".
  std::vector<std::string> devices{"cpu"};
  /// One of its files defines `ready`: its calls return before the data is complete.
  bool has_ready = false;
  /// A worker imports it before the others, because its import takes longer after them.
  bool imports_first = false;
  bool crosses = false;  ///< its consumer file has calls that import to another device
  std::string launches;  ///< the kind of device on which its functions of `call` launch a kernel
  bool in_default_matrix = true;
  bool hidden = false;  ///< used only if it is named; "all" does not include it
  /// The outcome of its cells if it is not installed, or if no worker can start in its environment.
  Outcome absence = Outcome::not_installed;
};

/// A kind of device on this machine.
struct DeviceKind {
  std::string name;  ///< cuda, rocm
  int count = 0;
  std::string why_not;  ///< one line where `count` is 0
};

/// The requested axes. An empty list means the default. "all" in a list means all known values; for
/// libraries also those outside the default matrix and those not installed, but not hidden ones.
struct Axes {
  std::vector<std::string> environments{"default"};
  std::vector<std::string> producers;
  std::vector<std::string> consumers;
  /// Default: dlpack, dlpack_c, convert. "all" is all but `call`.
  std::vector<std::string> protocols;
  /// Default: cpu, the devices that adapters name with a number in DEVICES, and the first GPU.
  std::vector<std::string> devices;
  std::vector<std::string> cases;     ///< default: f32; "all": a case sweep, see Plan::case_sweep
  std::vector<std::uint64_t> sizes;   ///< default: 4 KiB, 256 KiB, 4 MiB; of a case sweep 64 KiB
  std::vector<std::uint64_t> arrays;  ///< of a `call`; default: 1
  std::vector<std::string> phases;    ///< default: exchange
  std::string filter;                 ///< regex on the cell's name
  /// The kinds whose driver was queried. Others become known when a worker starts.
  std::vector<DeviceKind> device_kinds;
};

/// Two libraries of one environment, measured in both directions. `first` <= `second`; both are
/// equal for a library with itself.
struct Pair {
  std::string environment;
  std::string first;
  std::string second;
  std::vector<std::size_t> cells;  ///< indices into Plan::cells
};

struct Plan {
  std::vector<Library> libraries;
  std::vector<Cell> cells;      ///< to be measured, in the order of the pairs
  std::vector<Entry> excluded;  ///< recorded without a worker, as not-installed, no-device, ...
  std::vector<Pair> pairs;      ///< a library with itself first
  /// All cases are requested; a case with the outcome of kBaseline is not timed.
  bool case_sweep = false;
  std::string fingerprint;  ///< see plan/fingerprint.hpp; a resumed run must have the same

  /// Throws UsageError for an unknown library.
  const Library& library(const std::string& environment, const std::string& name) const;

  /// Does the exchange have a clock `ready`, even if the filter dropped that cell? Throws
  /// UsageError.
  bool has_ready(const Exchange& exchange) const;
};

/// Expands the axes. Every cell of the product is in `cells` or in `excluded`, except those that
/// the filter drops. Each exchange has the clock `call`, and also `ready` if the consumer defines
/// `ready`; otherwise the data is complete when the call returns. Phases other than `exchange` have
/// only the clock `call`.
///
/// Throws UsageError for unknown libraries (with the nearest name), protocols, devices and cases,
/// for a size that is no whole number of a case's elements, and for an invalid regex as filter.
Plan make(std::vector<Library> libraries, const Axes& axes);

/// Why this machine lacks the device, or one of two devices joined by `+`. Empty if it has the
/// device or if its kind was not queried.
std::string why_missing(const std::vector<DeviceKind>& kinds, const std::string& device);

}  // namespace dlbench::plan

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/plan/plan.hpp"

namespace dlbench::plan {

/// The axes of one environment, with defaults filled in and every word checked.
struct Expanded {
  std::vector<const Library*> producers;
  std::vector<const Library*> consumers;
  std::vector<std::string> protocols;
  std::vector<std::string> devices;
  std::vector<Case> cases;
  std::vector<std::string> phases;
  std::vector<std::uint64_t> sizes;   ///< ascending: after a time-out larger sizes are not tried
  std::vector<std::uint64_t> arrays;  ///< of a `call`, ascending
  bool devices_named = false;
  bool consumers_named = false;
  std::vector<DeviceKind> device_kinds;
};

/// Are all cases requested?
bool is_case_sweep(const Axes& axes);

/// Expands the axes for one environment. `absent` receives a placeholder for each named library
/// that is unknown in this environment. The result points into `absent`, which must outlive it and
/// not be resized.
Expanded expand(const std::vector<Library>& libraries, const Axes& axes,
                const std::string& environment, std::vector<Library>& absent);

/// "cuda" -> "cuda:0". Throws UsageError unless the word is a device of a kind that dlbench or one
/// of these libraries supports.
std::string parse_device(const std::string& word, const std::vector<Library>& libraries);

}  // namespace dlbench::plan

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dlbench::plan {

/// One environment's axes with the defaults filled in and every word checked.
struct Expanded {
  std::vector<const Library*> producers;
  std::vector<const Library*> consumers;
  std::vector<std::string> protocols;
  std::vector<std::string> devices;
  std::vector<Case> cases;
  std::vector<std::string> phases;
  std::vector<std::uint64_t> sizes;  ///< ascending: a time-out at a small size spares the larger
  bool devices_named = false;
  std::vector<DeviceKind> device_kinds;
};

/// Is `word` among `words`?
bool contains(const std::vector<std::string>& words, const std::string& word);

/// Were all cases requested?
bool is_case_sweep(const Axes& axes);

/// `absent` receives a placeholder for each library that was named and is unknown in this
/// environment; it must outlive the result and not be resized while that is in use.
Expanded expand(const std::vector<Library>& libraries, const Axes& axes,
                const std::string& environment, std::vector<Library>& absent);

/// "cuda" -> "cuda:0". Throws UsageError for what is no device of a kind that these libraries or
/// dlbench know.
std::string parse_device(const std::string& word, const std::vector<Library>& libraries);

}  // namespace dlbench::plan

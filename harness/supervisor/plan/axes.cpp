#include "supervisor/plan/axes.hpp"

#include <algorithm>
#include <regex>

#include "model/contains.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/page.hpp"
#include "model/places.hpp"
#include "model/units.hpp"

namespace dlbench::plan {
namespace {

using Words = std::vector<std::string>;

/// The requested words without duplicates, each checked; all allowed words for "all".
Words chosen(std::string_view what, const Words& requested, const Words& defaults,
             const Words& allowed) {
  if (requested.empty()) return defaults;
  if (contains(requested, "all")) return allowed;
  Words words;
  for (const std::string& word : requested) {
    require_known(what, word, allowed);
    add_new(words, word);
  }
  return words;
}

Words library_names(const std::vector<Library>& libraries) {
  Words names;
  for (const Library& library : libraries) add_new(names, library.name);
  return names;
}

const Library* find(const std::vector<Library>& libraries, const std::string& environment,
                    const std::string& name) {
  for (const Library& library : libraries) {
    if (library.name == name && library.environment == environment) return &library;
  }
  return nullptr;
}

std::vector<const Library*> of_role(const std::vector<Library>& libraries, const Words& requested,
                                    const std::string& environment, std::string_view what,
                                    std::string Library::*path, std::vector<Library>& absent) {
  std::vector<const Library*> found;
  if (requested.empty()) {
    for (const Library& library : libraries) {
      if (library.environment == environment && library.in_default_matrix && library.installed &&
          !(library.*path).empty()) {
        found.push_back(&library);
      }
    }
    return found;
  }
  const bool all = contains(requested, "all");
  for (const std::string& name : chosen(what, requested, {}, library_names(libraries))) {
    const Library* library = find(libraries, environment, name);
    if (library == nullptr) library = find(absent, environment, name);
    if (library == nullptr) {
      Library& source = absent.emplace_back();
      source.name = name;
      source.environment = environment;
      source.why_not = "not known in environment '" + environment + "'";
      library = &absent.back();
    }
    // "all" leaves out libraries that do not have this role.
    const bool named = contains(requested, name);
    if (!all || named || (!library->hidden && !(library->*path).empty())) found.push_back(library);
  }
  return found;
}

bool is_numbered(const std::string& device) {
  return device == "cpu" || device.find(':') != std::string::npos;
}

/// The devices that are measured by default; with `all` every device of this machine.
Words devices_of(const std::vector<const Library*>& producers, const std::vector<DeviceKind>& kinds,
                 bool all) {
  Words devices{"cpu"};
  for (const Library* library : producers) {
    if (!library->installed) continue;
    for (const std::string& device : library->devices) {
      if (is_numbered(device)) add_new(devices, device);
    }
  }
  for (const DeviceKind& kind : kinds) {
    for (int number = 0; number < kind.count; ++number) {
      add_new(devices, kind.name + ":" + std::to_string(number));
      if (!all) return devices;
    }
  }
  return devices;
}

/// "cuda" -> "cuda:0". Throws UsageError for an invalid device.
std::string checked_device(const std::string& requested, const Words& kinds) {
  static const std::regex word("([a-z]+)(:[0-9]+)?");
  std::smatch parts;
  const bool fits = std::regex_match(requested, parts, word) && contains(kinds, parts[1]) &&
                    (parts[1] != "cpu" || !parts[2].matched);
  if (requested.starts_with("GPU-") || requested.starts_with("MIG-")) {
    throw UsageError("'" + requested +
                     "' is the UUID of a device; set CUDA_VISIBLE_DEVICES to it and measure " +
                     "cuda:0, or for AMD set ROCR_VISIBLE_DEVICES and measure rocm:0");
  }
  if (!fits) {
    const std::string kind = requested.substr(0, requested.find(':'));
    if (!contains(kinds, kind)) require_known("device", kind, kinds);
    throw UsageError("'" + requested +
                     "' is not a device; allowed: cpu, cuda:0, or two of them, such as cuda:0+cpu");
  }
  return requested == "cpu" || parts[2].matched ? requested : requested + ":0";
}

Words checked_devices(const Words& requested, const Words& defaults, const Words& kinds) {
  if (requested.empty()) return defaults;
  Words devices;
  for (const std::string& word : requested) {
    if (word == "all") {
      for (const std::string& device : defaults) add_new(devices, device);
      continue;
    }
    const std::size_t plus = word.find('+');
    std::string device = checked_device(word.substr(0, plus), kinds);
    if (plus != std::string::npos) {
      const std::string target = checked_device(word.substr(plus + 1), kinds);
      if (target == device) throw UsageError("'" + word + "' names the same device twice");
      device += "+" + target;
    }
    add_new(devices, device);
  }
  return devices;
}

/// The kinds of device that `--devices` accepts.
Words kinds_of(const std::vector<Library>& libraries) {
  Words kinds{"cpu", "cuda", "rocm", "sycl", "sim"};
  for (const Library& library : libraries) {
    for (const std::string& device : library.devices) add_new(kinds, kind_of_device(device));
  }
  return kinds;
}

std::vector<std::uint64_t> checked_sizes(const std::vector<std::uint64_t>& requested,
                                         const std::vector<Case>& cases, bool case_sweep) {
  std::vector<std::uint64_t> sizes = requested;
  // One size shows the outcome of each case. The page guard needs whole pages.
  if (sizes.empty() && case_sweep) sizes = {std::max<std::uint64_t>(64 << 10, 16 * page_bytes())};
  if (sizes.empty()) sizes = {4 << 10, 256 << 10, 4 << 20};
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const std::uint64_t size : sizes) {
    for (const Case& one : cases) {
      if (size == 0 || sizes_of(one, {size}).front() % element_bytes(one) != 0) {
        throw UsageError("size " + format_bytes(size) + " does not fit case " + one.name +
                         ": it must be a multiple of " + std::to_string(element_bytes(one)) +
                         " bytes, the size of an element");
      }
    }
  }
  return sizes;
}

std::vector<std::uint64_t> checked_arrays(const std::vector<std::uint64_t>& requested,
                                          const Words& protocols) {
  if (requested.empty()) return {1};
  if (!contains(protocols, std::string("call"))) {
    throw UsageError("only calls have several arrays: add --protocols call, or leave out --arrays");
  }
  std::vector<std::uint64_t> numbers = requested;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.back() > kMostCallArrays) {
    throw UsageError("a call cannot have " + std::to_string(numbers.back()) +
                     " arrays; allowed: 0 to " + std::to_string(kMostCallArrays));
  }
  return numbers;
}

}  // namespace

bool is_case_sweep(const Axes& axes) {
  return contains(axes.cases, "all");
}

std::string parse_device(const std::string& word, const std::vector<Library>& libraries) {
  return checked_device(word, kinds_of(libraries));
}

Expanded expand(const std::vector<Library>& libraries, const Axes& axes,
                const std::string& environment, std::vector<Library>& absent) {
  // `of_role` returns pointers into `absent`, so it must not be reallocated.
  absent.reserve(axes.producers.size() + axes.consumers.size() + 2 * libraries.size());
  Expanded all;
  all.producers =
      of_role(libraries, axes.producers, environment, "library", &Library::producer_path, absent);
  all.consumers =
      of_role(libraries, axes.consumers, environment, "library", &Library::consumer_path, absent);
  all.protocols = chosen("protocol", axes.protocols, {"dlpack", "dlpack_c", "convert"},
                         Words(kProtocols.begin(), kProtocols.end()));
  // A call imports nothing; its costs are read by the number of arrays.
  if (contains(axes.protocols, "all") && !contains(axes.protocols, "call")) {
    std::erase(all.protocols, "call");
  }
  all.phases = chosen("phase", axes.phases, {"exchange"}, Words(kPhases.begin(), kPhases.end()));
  const bool every = contains(axes.devices, "all");
  all.arrays = checked_arrays(axes.arrays, all.protocols);
  all.consumers_named = !axes.consumers.empty() && !contains(axes.consumers, "all");
  all.devices_named = !axes.devices.empty() && !every;
  all.devices = checked_devices(axes.devices, devices_of(all.producers, axes.device_kinds, every),
                                kinds_of(libraries));
  all.device_kinds = axes.device_kinds;
  all.cases = cases_of(axes.cases);
  all.sizes = checked_sizes(axes.sizes, all.cases, is_case_sweep(axes));
  return all;
}

}  // namespace dlbench::plan

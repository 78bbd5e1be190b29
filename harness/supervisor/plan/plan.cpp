#include "supervisor/plan/plan.hpp"

#include <optional>
#include <regex>
#include <sstream>
#include <utility>

#include "model/codes.hpp"
#include "model/contains.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/places.hpp"
#include "supervisor/plan/axes.hpp"
#include "supervisor/plan/fingerprint.hpp"

namespace dlbench::plan {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool has_device(const Library& library, const std::string& device) {
  return contains(library.devices, device) || contains(library.devices, kind_of_device(device));
}

/// A failure that this library causes.
Failure of_library(const Library& library, Outcome outcome, std::string reason,
                   std::string_view code) {
  return {outcome, "", std::move(reason), std::string(code), {{"library", library.name}}};
}

Failure no_arrays(const Library& library, const std::string& device) {
  return of_library(
      library, Outcome::no_device,
      library.name + " has no arrays on " + device + "; its devices: " + joined(library.devices),
      codes::kNoArraysThere);
}

/// Is it a call that launches a kernel, with arrays of another kind of device?
bool is_launched_elsewhere(const Library& consumer, const Exchange& wanted) {
  return wanted.protocol == Protocol::call && !consumer.launches.empty() &&
         kind_of_device(wanted.device) != consumer.launches;
}

std::optional<Failure> without_device(const std::vector<DeviceKind>& kinds, const Library& producer,
                                      const Library& consumer, const Exchange& wanted) {
  if (std::string why = why_missing(kinds, wanted.device); !why.empty()) {
    return Failure{Outcome::no_device, "", std::move(why)};
  }
  if (is_launched_elsewhere(consumer, wanted)) {
    std::string why = why_missing(kinds, consumer.launches);
    if (why.empty()) {
      why = consumer.name + " launches kernels on " + consumer.launches + ": add --devices " +
            consumer.launches;
    }
    return Failure{Outcome::no_device, "", std::move(why)};
  }
  if (!has_device(producer, source_of(wanted))) {
    return no_arrays(producer, source_of(wanted));
  }
  if (crosses_devices(wanted) && !has_device(consumer, target_of(wanted))) {
    return no_arrays(consumer, target_of(wanted));
  }
  return std::nullopt;
}

std::optional<Failure> excluded(const std::vector<DeviceKind>& kinds, const Library& producer,
                                const Library& consumer, const Exchange& wanted) {
  for (const Library* library : {&producer, &consumer}) {
    if (!library->installed) {
      return of_library(
          *library, library->absence,
          library->why_not.empty() ? library->name + " is not installed" : library->why_not, "");
    }
  }
  if (producer.producer_path.empty()) {
    return of_library(producer, Outcome::unsupported,
                      "dlbench has no producer adapter for " + producer.name, codes::kNoAdapter);
  }
  if (consumer.consumer_path.empty()) {
    return of_library(consumer, Outcome::unsupported,
                      "dlbench has no consumer adapter for " + consumer.name, codes::kNoAdapter);
  }
  if (auto exclusion = without_device(kinds, producer, consumer, wanted)) return exclusion;
  const std::string& protocol = wanted.protocol;
  if (call_for(protocol, consumer.protocols).empty()) {
    const std::string what =
        protocol == Protocol::call ? "function of arrays" : "call for " + protocol;
    return Failure{Outcome::no_protocol, "", consumer.name + " has no " + what,
                   std::string(codes::kNotImported)};
  }
  if (crosses_devices(wanted) && protocol != Protocol::dlpack &&
      protocol != Protocol::dlpack_versioned) {
    return Failure{Outcome::no_protocol, "", protocol + " has no argument for another device",
                   std::string(codes::kNoDeviceArgument)};
  }
  if (crosses_devices(wanted) && !consumer.crosses) {
    return Failure{Outcome::no_protocol, "",
                   consumer.name + " has no call that imports to another device",
                   std::string(codes::kNoDeviceCall)};
  }
  return std::nullopt;
}

/// Does dlbench have a device table for this device? With a table it can wait for any consumer's
/// data.
bool has_table(const std::string& device) {
  const std::string kind = kind_of_device(device);
  return kind == "cuda" || kind == "rocm" || kind == "sim";
}

bool is_asynchronous(const Exchange& exchange, const Library& consumer) {
  return consumer.has_ready || has_table(target_of(exchange));
}

std::vector<std::string> clocks_of(const Exchange& exchange, const Library& consumer) {
  std::vector<std::string> clocks{"call"};
  if (is_asynchronous(exchange, consumer)) clocks.emplace_back("ready");
  if (has_table(exchange.device) && !crosses_devices(exchange)) clocks.emplace_back("device");
  return clocks;
}

/// Is the protocol a call of a consumer that only imports, or an import of one that only calls?
bool is_other_use(const Library& consumer, const std::string& protocol) {
  const bool calls = contains(consumer.protocols, std::string("call"));
  return protocol == Protocol::call ? !calls : calls && consumer.protocols.size() == 1;
}

class Builder {
 public:
  Builder(Plan& plan, const Axes& requested) : plan_(plan), kinds_(requested.device_kinds) {
    const std::string& filter = requested.filter;
    if (filter.empty()) return;
    try {
      filter_.emplace(with_usual_names(filter), std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
      throw UsageError("filter '" + filter + "' is not a regular expression: " + error.what());
    }
  }

  void environment(const Expanded& axes, const std::string& environment) {
    std::vector<const Library*> libraries = axes.producers;
    for (const Library* library : axes.consumers) add_new(libraries, library);
    for (const Library* library : libraries) pair(axes, environment, *library, *library);
    for (std::size_t i = 0; i < libraries.size(); ++i) {
      for (std::size_t j = i + 1; j < libraries.size(); ++j) {
        pair(axes, environment, *libraries[i], *libraries[j]);
      }
    }
  }

 private:
  void pair(const Expanded& axes, const std::string& environment, const Library& first,
            const Library& second) {
    Pair pair{environment, first.name, second.name, {}};
    direction(axes, pair, first, second);
    if (&first != &second) direction(axes, pair, second, first);
    if (!pair.cells.empty()) plan_.pairs.push_back(std::move(pair));
  }

  void direction(const Expanded& axes, Pair& pair, const Library& producer,
                 const Library& consumer) {
    if (!contains(axes.producers, &producer) || !contains(axes.consumers, &consumer)) return;
    for (const std::string& protocol : axes.protocols) {
      // Most libraries only import, and some only call, so that is recorded only if it was asked.
      if (!axes.consumers_named && is_other_use(consumer, protocol)) continue;
      for (const std::string& device : axes.devices) {
        // A default device may be there for other libraries only, so it is not recorded as an
        // exclusion.
        if (!axes.devices_named && device != "cpu" && !has_device(producer, device)) continue;
        Exchange exchange{pair.environment, producer.name, consumer.name, protocol, device};
        if (!axes.devices_named && is_launched_elsewhere(consumer, exchange) &&
            why_missing(kinds_, consumer.launches).empty()) {
          continue;
        }
        const auto exclusion = excluded(kinds_, producer, consumer, exchange);
        for (const Case& array_case : axes.cases) {
          exchange.case_name = array_case.name;
          for (const std::uint64_t bytes : sizes_of(array_case, axes.sizes)) {
            exchange.bytes = bytes;
            for (const std::uint64_t arrays :
                 protocol == Protocol::call ? axes.arrays : std::vector<std::uint64_t>{1}) {
              exchange.arrays = arrays;
              add(pair, exchange, axes.phases, consumer, exclusion);
            }
          }
        }
      }
    }
  }

  void add(Pair& pair, const Exchange& exchange, const std::vector<std::string>& phases,
           const Library& consumer, const std::optional<Failure>& exclusion) {
    for (const std::string& phase : phases) {
      if (phase != Phase::exchange) {
        add(pair, Cell{exchange, phase, "call"}, exclusion);
        continue;
      }
      for (const std::string& clock : clocks_of(exchange, consumer)) {
        add(pair, Cell{exchange, phase, clock}, exclusion);
      }
    }
  }

  void add(Pair& pair, Cell cell, const std::optional<Failure>& exclusion) {
    if (filter_ && !std::regex_search(name(cell), *filter_)) return;
    if (exclusion) {
      plan_.excluded.push_back(failed_entry(cell, *exclusion));
    } else {
      pair.cells.push_back(plan_.cells.size());
      plan_.cells.push_back(std::move(cell));
    }
  }

  Plan& plan_;
  const std::vector<DeviceKind>& kinds_;
  std::optional<std::regex> filter_;
};

}  // namespace

std::string why_missing(const std::vector<DeviceKind>& kinds, const std::string& device) {
  std::istringstream parts(device);
  for (std::string part; std::getline(parts, part, '+');) {
    const auto colon = part.find(':');
    for (const DeviceKind& kind : kinds) {
      if (part.substr(0, colon) != kind.name) continue;
      if (kind.count == 0) return kind.why_not;
      const std::string number = colon == std::string::npos ? "0" : part.substr(colon + 1);
      // More than six digits may not fit into an int.
      if (number.size() > 6 || std::stoi(number) >= kind.count) {
        return "no " + part + " here: " + kind.name + " has " + std::to_string(kind.count) +
               (kind.count == 1 ? " device" : " devices");
      }
    }
  }
  return {};
}

const Library& Plan::library(const std::string& environment, const std::string& wanted) const {
  for (const Library& one : libraries) {
    if (one.name == wanted && one.environment == environment) return one;
  }
  throw UsageError("unknown library '" + wanted + "' in environment '" + environment + "'");
}

bool Plan::has_ready(const Exchange& exchange) const {
  return is_asynchronous(exchange, library(exchange.environment, exchange.consumer));
}

Plan make(std::vector<Library> libraries, const Axes& axes) {
  Plan plan;
  plan.libraries = std::move(libraries);
  Builder builder(plan, axes);
  std::vector<std::string> done;
  for (const std::string& environment :
       axes.environments.empty() ? std::vector<std::string>{"default"} : axes.environments) {
    if (contains(done, environment)) continue;
    done.push_back(environment);
    std::vector<Library> absent;
    builder.environment(expand(plan.libraries, axes, environment, absent), environment);
  }
  plan.case_sweep = is_case_sweep(axes);
  plan.fingerprint = fingerprint(plan);
  return plan;
}

}  // namespace dlbench::plan

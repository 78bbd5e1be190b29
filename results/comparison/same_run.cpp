#include <array>
#include <set>

#include "model/error.hpp"
#include "results/journal.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

/// The facts of the machine and of dlbench that numbers depend on and that do not change during a
/// run, unlike load, clock rates and the date.
constexpr std::array<const char*, 6> kSame{"/host_name",
                                           "/num_cpus",
                                           "/dlbench/version",
                                           "/dlbench/machine/cpu",
                                           "/dlbench/machine/cores",
                                           "/dlbench/machine/architecture"};

json value_at(const json& context, const json::json_pointer& pointer) {
  return context.contains(pointer) ? context[pointer] : json();
}

std::string json_text(const json& value) {
  if (value.is_null()) return "nothing";
  return value.is_string() ? value.get<std::string>() : shown(value);
}

void compare(const json& before, const json& now, const json::json_pointer& pointer,
             const std::string& what) {
  const json old_value = value_at(before, pointer);
  const json new_value = value_at(now, pointer);
  if (old_value != new_value) {
    throw UsageError("cannot resume: " + what + " was " + json_text(old_value) + ", is " +
                     json_text(new_value));
  }
}

std::set<std::string> keys_at(const json& before, const json& now,
                              const json::json_pointer& pointer) {
  std::set<std::string> keys;
  for (const json* context : {&before, &now}) {
    const json value = value_at(*context, pointer);
    if (!value.is_object()) continue;
    for (const auto& [key, inner] : value.items()) keys.insert(key);
  }
  return keys;
}

}  // namespace

void require_same_run(const Header& before, const Header& now) {
  for (const char* pointer : kSame) {
    const std::string key = std::string(pointer).substr(std::string(pointer).rfind('/') + 1);
    compare(before.context, now.context, json::json_pointer(pointer), key);
  }
  const json::json_pointer environments("/dlbench/environments");
  for (const std::string& environment : keys_at(before.context, now.context, environments)) {
    const json::json_pointer inside = environments / environment;
    compare(before.context, now.context, inside / "python", "Python in " + environment);
    for (const std::string& library : keys_at(before.context, now.context, inside / "libraries")) {
      std::string what = library;
      what.append(" in ").append(environment);
      compare(before.context, now.context, inside / "libraries" / library, what);
    }
  }
  if (before.fingerprint != now.fingerprint) {
    throw UsageError("cannot resume: the plan changed (other libraries, options or adapters)");
  }
}

}  // namespace dlbench::results

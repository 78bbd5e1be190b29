#include "fleet/loads.hpp"

#include <algorithm>

namespace dlbench::fleet {
namespace {

// The reference exchange's halves: every worker measures them.
constexpr const char* kNative = "native";

}  // namespace

Loads::Loads(const plan::Plan& plan, const plan::Pair& pair, std::span<const Task> tasks,
             bool reference) {
  const auto add = [&](const std::string& role, const std::string& library, bool needed) {
    for (const Load& load : all_) {
      if (load.role == role && load.library == library) return;
    }
    for (const plan::Library& known : plan.libraries) {
      if (known.name != library || known.environment != pair.environment) continue;
      const std::string& path = role == "producer" ? known.producer_path : known.consumer_path;
      if (!path.empty()) all_.push_back({role, library, path, needed});
    }
  };
  for (const Task& task : tasks) {
    if (task.over) continue;
    add("producer", task.exchange.producer, true);
    add("consumer", task.exchange.consumer, true);
  }
  // `ready`, `address` and `values` may stand in either file of a library, also in the one whose
  // role is not asked for: without its `ready` a consumer that does not wait would look done.
  for (const Task& task : tasks) {
    if (task.over) continue;
    for (const std::string& library : {task.exchange.producer, task.exchange.consumer}) {
      add("producer", library, true);
      add("consumer", library, true);
    }
  }
  if (!reference) return;
  add("producer", kNative, false);
  add("consumer", kNative, false);
}

std::string Loads::before_current() const {
  const std::string& first = all_.front().library;
  return first == current().library ? "" : first;
}

void Loads::reverse() {
  if (all_.empty()) return;
  const std::string first = all_.front().library;
  std::stable_partition(all_.begin(), all_.end(),
                        [&](const Load& load) { return load.needed && load.library != first; });
}

void Loads::skip_to_needed() {
  while (!is_over() && !current().needed) ++next_;
}

bool Loads::has_reference() const {
  return std::count_if(all_.begin(), all_.end(),
                       [](const Load& load) { return load.library == kNative; }) == 2;
}

}  // namespace dlbench::fleet

#include "supervisor/imports/loads.hpp"

#include <algorithm>

namespace dlbench::supervisor {
namespace {

// The producer and the consumer of the reference exchange, which every worker measures.
constexpr const char* kNative = "native";

}  // namespace

Loads::Loads(const plan::Plan& plan, const std::string& environment,
             std::span<const std::string> libraries, const Filter& skips, bool reference) {
  const auto add = [&](const std::string& role, const std::string& library, bool needed) {
    for (const Load& load : all_) {
      if (load.role == role && load.library == library) return;
    }
    for (const plan::Library& known : plan.libraries) {
      if (known.name != library || known.environment != environment) continue;
      const std::string& path = role == "producer" ? known.producer_path : known.consumer_path;
      if (!path.empty()) all_.push_back({role, library, path, needed});
    }
  };
  for (const std::string& library : libraries) {
    for (const char* role : {"producer", "consumer"}) {
      if (!skips(library, role)) add(role, library, true);
    }
  }
  if (!reference) return;
  add("producer", kNative, false);
  add("consumer", kNative, false);
}

std::vector<std::string> Loads::before_current() const {
  std::vector<std::string> before;
  for (std::size_t i = 0; i < next_; ++i) {
    const std::string& library = all_[i].library;
    if (library == current().library) continue;
    if (before.empty() || before.back() != library) before.push_back(library);
  }
  return before;
}

bool Loads::begins_library() const {
  return next_ == 0 || all_[next_ - 1].library != current().library;
}

void Loads::skip_library() {
  const std::string library = current().library;
  while (!is_over() && current().library == library) ++next_;
}

void Loads::skip_needed() {
  while (!is_over() && current().needed) ++next_;
}

bool Loads::has_reference() const {
  return std::count_if(all_.begin(), all_.end(),
                       [](const Load& load) { return load.library == kNative; }) == 2;
}

std::string describe_import(const Loads& loads) {
  const std::vector<std::string> before = loads.before_current();
  return "importing " + loads.current().library + " (" + loads.current().role + ")" +
         (before.size() == 1 ? " after " + before.front() : "");
}

}  // namespace dlbench::supervisor

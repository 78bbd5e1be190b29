#include "results/comparison/compare_side.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/error.hpp"
#include "results/fields.hpp"
#include "results/read.hpp"
#include "stats/stats.hpp"
#include "stats/stopping.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

/// The facts about a machine that affect numbers and stay the same between runs.
constexpr std::array<const char*, 4> kMachine{"cpu", "architecture", "cores", "devices"};

/// The name of a single environment.
constexpr const char* kOnly = "default";

/// Other programs only add to a round of the host, so the lowest one scatters least between
/// workers. From the rounds of phases and of the device's clock the instrument's own cost is
/// subtracted.
bool uses_lowest_rounds(const Cell& cell) {
  return cell.phase == Phase::exchange && cell.clock != Clock::device;
}

/// The 97.5 % quantile of the normal distribution.
constexpr double kWide = 1.95996;

/// Is the time that of the worker's own core? It is not if the consumer is waited for, if a device
/// takes part in a copy, or if a copy is so large that it waits for memory. `unproven` may be one.
bool is_bound_by_core(const Entry& entry) {
  constexpr std::uint64_t kLarge = 1 << 20;
  const Exchange& exchange = entry.cell.exchange;
  if (entry.cell.clock != Clock::call) return false;
  if (entry.outcome == Outcome::zero_copy) return true;
  return entry.outcome != Outcome::device_copy && exchange.device == "cpu" &&
         exchange.bytes * std::max<std::uint64_t>(exchange.arrays, 1) < kLarge;
}

/// Sets a time for each worker, its lowest round or its median, and how uncertain its rounds leave
/// it: by the next higher round, or by the interval of the median.
void set_times(SideCell& cell, const Entry& entry) {
  const bool lowest = uses_lowest_rounds(entry.cell);
  for (const WorkerNumbers& worker : entry.workers) {
    std::vector<double> rounds = worker.samples_ns;
    double time = worker.median_ns, deviation = 0;
    if (lowest && rounds.size() > 1) {
      std::partial_sort(rounds.begin(), rounds.begin() + 2, rounds.end());
      if (rounds[0] > 0) {
        time = rounds[0];
        deviation = rounds[1] / rounds[0] - 1;
      }
    } else if (rounds.size() > 1) {
      const stats::Interval interval = stats::rounds_interval(rounds);
      deviation = std::max(0.0, interval.hi - interval.lo) / 2 / kWide / time;
    }
    cell.workers.medians.push_back(time);
    cell.workers.deviations.push_back(deviation);
    cell.cores_ns.push_back(is_bound_by_core(entry) ? worker.core_ns.value_or(0) : 0);
  }
  if (!entry.workers.empty() && cell.median_ns > 0) {
    cell.median_ns = stats::median(cell.workers.medians);
  }
}

void join(std::vector<Outcome>& words, Outcome word) {
  const auto place = std::lower_bound(words.begin(), words.end(), word);
  if (place == words.end() || *place != word) words.insert(place, word);
}

SideCell side_cell_of(Side& side, const Entry& entry) {
  SideCell cell;
  cell.name = copied(*side.texts, name(entry.cell));
  cell.place = &*side.places.emplace(entry.cell.machine, entry.cell.exchange.environment).first;
  cell.outcome = entry.found.value_or(entry.outcome);
  cell.untimed_phase = entry.found && entry.cell.phase != Phase::exchange;
  cell.median_ns = entry.median_ns;
  cell.below_ns = entry.below_ns;
  if (const auto limit = entry.data.find("limit"); limit != entry.data.end()) {
    cell.below_limit = limit->second;
  }
  cell.instructions = entry.instructions;
  cell.changed = entry.changed;
  cell.late_read = entry.late_read;
  set_times(cell, entry);
  for (const WorkerNumbers& worker : entry.workers) {
    if (worker.outcome) join(cell.words, *worker.outcome);
  }
  return cell;
}

/// If both documents have an outcome, `cell` gets the outcomes of both and the weaker claim.
void reconcile(const SideCell& known, SideCell& cell) {
  std::vector<Outcome> words = known.all_words();
  for (const Outcome word : cell.all_words()) join(words, word);
  if (words.size() > 1) cell.words = std::move(words);
  if (weaker_claim(known.outcome, cell.outcome) == cell.outcome) return;
  cell.outcome = known.outcome;
  cell.changed = known.changed;
  cell.late_read = known.late_read;
}

/// Adds the cell of a later document: appends its workers, reconciles outcomes, and otherwise
/// prefers the later document.
void add(SideCell& known, SideCell cell) {
  const bool was_measured = is_measured(known.outcome);
  if (was_measured && cell.outcome == Outcome::not_run) return;
  if (cell.untimed_phase && !known.untimed_phase && known.outcome != Outcome::not_run) return;
  if (was_measured && is_measured(cell.outcome)) reconcile(known, cell);
  const auto prepend = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.begin(), from.begin(), from.end());
  };
  prepend(cell.workers.medians, known.workers.medians);
  prepend(cell.workers.deviations, known.workers.deviations);
  prepend(cell.cores_ns, known.cores_ns);
  if (!cell.instructions) cell.instructions = known.instructions;
  if (!cell.workers.medians.empty()) {
    cell.median_ns = stats::median(cell.workers.medians);
    cell.below_ns.reset();
  }
  known = std::move(cell);
}

/// Combines the cells with the same name.
std::vector<SideCell> sorted(std::vector<SideCell> read) {
  std::vector<SideCell*> order;
  order.reserve(read.size());
  for (SideCell& cell : read) order.push_back(&cell);
  std::stable_sort(order.begin(), order.end(),
                   [](const SideCell* a, const SideCell* b) { return a->name < b->name; });
  std::vector<SideCell> cells;
  cells.reserve(read.size());
  for (SideCell* cell : order) {
    if (!cells.empty() && cells.back().name == cell->name)
      add(cells.back(), std::move(*cell));
    else
      cells.push_back(std::move(*cell));
  }
  return cells;
}

/// The usable devices by model and driver, because only these affect numbers.
json usable(const json& devices) {
  json kept = json::array();
  for (const json& device : devices) {
    if (!device.is_object() || device.value("state", json()) != "ok") continue;
    json& one = kept.emplace_back(json::object());
    for (const char* key : {"name", "version"}) {
      if (device.contains(key)) one[key] = device[key];
    }
    const json units = device.value("units", json::array());
    for (const json& unit : units) {
      if (unit.is_object()) one["units"].push_back(unit.value("name", json()));
    }
  }
  return kept;
}

json facts_of(const json& machine) {
  json facts = json::object();
  for (const char* key : kMachine) {
    if (machine.contains(key)) facts[key] = machine[key];
  }
  if (facts.contains("devices") && facts["devices"].is_array()) {
    facts["devices"] = usable(facts["devices"]);
  }
  return facts;
}

void read_environments(Side& side, const std::string& machine, const json& environments,
                       const std::string& wanted) {
  for (const auto& [name, item] : environments.items()) {
    if (!wanted.empty() && name != wanted) continue;
    if (side.facts.python.empty()) side.facts.python = item["python"].get<std::string>();
    for (const auto& [library, version] : item["libraries"].items()) {
      side.facts.libraries.try_emplace(library, version.get<std::string>());
    }
    if (!item.contains("reference_exchange")) continue;
    const json& reference_item = item["reference_exchange"];
    Reference& reference = side.references[{machine, wanted.empty() ? name : kOnly}];
    const auto workers = reference_item["workers"].get<std::size_t>();
    if (workers <= reference.workers) continue;
    const double spread =
        reference_item.contains("spread") ? reference_item["spread"].get<double>() : 0;
    reference = {reference_item["median_ns"].get<double>(), workers, spread, {}};
    if (reference_item.contains("core_ns")) {
      reference.core_ns = reference_item["core_ns"].get<double>();
    }
  }
}

void read_machine(Side& side, const std::string& name, const json& about,
                  const std::string& wanted) {
  side.machines[name] = facts_of(about["machine"]);
  if (about.contains("request")) side.requests.try_emplace(name, about["request"]);
  read_environments(side, name, about["environments"], wanted);
}

void read_context(Side& side, const json& context, const std::filesystem::path& path,
                  const std::string& wanted) {
  const json& about = context["dlbench"];
  if (!wanted.empty() && !about["environments"].contains(wanted)) {
    throw UsageError(path.string() + ": the run has no environment '" + wanted + "'");
  }
  if (about.contains("machines")) {
    for (const auto& [name, item] : about["machines"].items()) {
      read_machine(side, name, item, wanted);
    }
  } else {
    read_machine(side, "", about, wanted);
  }
  side.facts.date = context["date"].get<std::string>();
  const json build = about.value("build", json(""));
  side.build = build.is_string() ? build.get<std::string>() : "";
}

}  // namespace

std::vector<Outcome> SideCell::all_words() const {
  return words.empty() ? std::vector<Outcome>{outcome} : words;
}

Side read_side(const SideSource& source) {
  Side side;
  side.machines = json::object();
  side.texts = std::make_shared<Texts>();
  side.facts.environment = source.environment;
  for (const std::filesystem::path& path : source.documents) {
    const json context = read_document(path, [&](Entry entry) {
      std::string& environment = entry.cell.exchange.environment;
      if (!source.environment.empty()) {
        if (environment != source.environment) return;
        environment = kOnly;
      }
      side.cells.push_back(side_cell_of(side, entry));
    });
    read_context(side, context, path, source.environment);
    side.facts.runs.push_back(path.string());
  }
  side.cells = sorted(std::move(side.cells));
  return side;
}

void require_same_machine(const Side& base, const Side& head) {
  std::string differences;
  for (const auto& [name, facts] : base.machines.items()) {
    if (!head.machines.contains(name)) continue;
    const json& other = head.machines[name];
    for (const char* key : kMachine) {
      const json before = facts.value(key, json()), after = other.value(key, json());
      if (before == after) continue;
      const bool plain = !before.is_structured() && !after.is_structured();
      const std::string values = plain ? " (" + shown(before) + ", " + shown(after) + ")" : "";
      differences += (differences.empty() ? "" : ", ") + std::string(key) + values;
    }
  }
  if (!differences.empty()) {
    throw UsageError("the machines differ in " + differences + "; compare them with --force");
  }
}

}  // namespace dlbench::results

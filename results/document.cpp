#include "results/document.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/build.hpp"
#include "model/error.hpp"
#include "results/interval.hpp"
#include "results/schema/shared_fields.hpp"
#include "results/slope.hpp"
#include "stats/process_spread.hpp"
#include "stats/stats.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

/// The workers of an environment.
struct Environment {
  std::map<std::string, std::vector<double>> floors_ns;
  std::map<std::string, std::vector<double>> copy_floors_gb_per_s;
  std::vector<double> references_ns, reference_cores_ns;
  WorkerRecord facts;  ///< of all of them, without floors
  bool has_worker = false;

  /// None for one process.
  std::optional<double> spread() const {
    if (references_ns.size() < 2) return std::nullopt;
    return stats::relative_spread(references_ns);
  }
};

std::map<std::string, Environment> by_environment(const std::vector<WorkerRecord>& workers) {
  std::map<std::string, Environment> environments;
  for (const WorkerRecord& worker : workers) {
    Environment& environment = environments[worker.environment];
    WorkerRecord& facts = environment.facts;
    environment.has_worker = true;
    facts.python = worker.python;
    facts.gil = worker.gil;
    for (const auto& [floor, ns] : worker.floors_ns) environment.floors_ns[floor].push_back(ns);
    for (const auto& [floor, rate] : worker.copy_floors_gb_per_s) {
      environment.copy_floors_gb_per_s[floor].push_back(rate);
    }
    for (const auto& [device, bytes] : worker.copy_floors_bytes) {
      facts.copy_floors_bytes[device] = bytes;
    }
    facts.context_flags.insert(worker.context_flags.begin(), worker.context_flags.end());
    if (worker.reference_ns) environment.references_ns.push_back(*worker.reference_ns);
    if (worker.reference_core_ns) {
      environment.reference_cores_ns.push_back(*worker.reference_core_ns);
    }
    // Keep the effects that the first worker observed, because the threads of several workers
    // cannot be combined.
    facts.import_effects.insert(worker.import_effects.begin(), worker.import_effects.end());
    facts.import_seconds.insert(worker.import_seconds.begin(), worker.import_seconds.end());
    facts.libraries.insert(worker.libraries.begin(), worker.libraries.end());
  }
  return environments;
}

/// By environment, separate for the clock `device`, which is not a host clock.
using Spreads = std::map<std::pair<std::string, bool>, stats::ProcessSpread>;

std::pair<std::string, bool> spread_of(const Entry& entry) {
  return {entry.cell.exchange.environment, entry.cell.clock == Clock::device};
}

/// Estimates spreads from all cells with several processes and from the reference exchanges.
Spreads spreads_of(const std::vector<Entry>& entries,
                   const std::map<std::string, Environment>& environments) {
  Spreads spreads;
  for (const auto& [name, environment] : environments) {
    spreads[{name, false}].add(environment.references_ns);
  }
  for (const Entry& entry : entries) {
    if (!is_measured(entry.outcome)) continue;
    // Workers with different outcomes are not comparable.
    if (!entry.workers.empty() && entry.workers.front().outcome) continue;
    stats::Series medians;
    for (const WorkerNumbers& worker : entry.workers) medians.push_back(worker.median_ns);
    spreads[spread_of(entry)].add(std::move(medians));
  }
  for (auto& [key, spread] : spreads) spread.estimate();
  return spreads;
}

/// The object at the key; replaces any other value.
json& object_at(json& parent, const std::string& key) {
  json& value = parent[key];
  if (!value.is_object()) value = json::object();
  return value;
}

void put_environment(json& item, const Environment& environment,
                     const stats::ProcessSpread& spread) {
  WorkerRecord facts = environment.facts;
  if (environment.has_worker) {
    item["python"] = facts.python;
    item["gil"] = facts.gil;
  } else if (!item.contains("python")) {
    item["python"] = "";
  }
  for (const auto& [floor, values] : environment.floors_ns) {
    facts.floors_ns[floor] = stats::median(values);
  }
  for (const auto& [floor, rates] : environment.copy_floors_gb_per_s) {
    facts.copy_floors_gb_per_s[floor] = stats::median(rates);
  }
  OrderedJson made;
  Put put(made);
  environment_fields(put, facts);
  item.update(json(made), /*merge_objects=*/true);
  item.erase("between_processes");
  for (const stats::ProcessSpread::Row& row : spread.table()) {
    item["between_processes"].push_back(
        {{"length_ns", row.length_ns}, {"half_width", row.half_width}, {"series", row.series}});
  }
  if (!environment.references_ns.empty()) {
    json& reference = item["reference_exchange"];
    reference = {{"median_ns", stats::median(environment.references_ns)},
                 {"workers", environment.references_ns.size()}};
    if (const auto quartiles = environment.spread()) reference["spread"] = *quartiles;
    if (environment.reference_cores_ns.size() == environment.references_ns.size()) {
      reference["core_ns"] = stats::median(environment.reference_cores_ns);
    }
  }
}

json context_of(const JournalContents& contents,
                const std::map<std::string, Environment>& environments, Spreads& spreads) {
  json context = contents.header.context;
  // Keys that readers of Google Benchmark's JSON expect.
  const json expected{{"date", ""},
                      {"host_name", ""},
                      {"num_cpus", 1},
                      {"mhz_per_cpu", 0},
                      {"caches", json::array()},
                      {"json_schema_version", 1},
                      {"library_build_type", "release"}};
  for (const auto& [key, value] : expected.items()) {
    if (!context.contains(key)) context[key] = value;
  }
  json& about = object_at(context, "dlbench");
  about["schema"] = kSchema;
  if (!about.contains("version")) about["version"] = version();
  object_at(about, "machine");
  double wall_s = 0, round_s = 0;
  for (const EndRecord& end : contents.ends) {
    wall_s += end.wall_s;
    round_s += end.round_s;
  }
  about["wall_s"] = wall_s;
  about["round_s"] = round_s;
  about["signal"] = contents.ends.empty() ? 0 : contents.ends.back().signal;
  about["fingerprint"] = contents.header.fingerprint;
  if (contents.dropped_lines > 0) {
    about["dropped"] = {{"lines", contents.dropped_lines}, {"first", contents.first_dropped}};
  }
  json& items = object_at(about, "environments");
  for (const auto& [name, environment] : environments) {
    put_environment(object_at(items, name), environment, spreads[{name, false}]);
  }
  for (const auto& [name, item] : items.items()) {
    if (environments.contains(name)) continue;
    put_environment(object_at(items, name), Environment(), spreads[{name, false}]);
  }
  return context;
}

/// The count at the key, or 0: the context of a journal is not validated when it is written.
std::uint64_t count_at(const json& object, const char* key) {
  const json value = object.value(key, json());
  const bool whole =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  return whole ? value.get<std::uint64_t>() : 0;
}

/// Warns of copies below twice the size of the last-level cache, whose rate may be the cache's. One
/// that is ten times as slow as a plain copy of memory would be about as slow outside the cache.
void mark_cached_copies(std::vector<Entry>& entries, const json& context,
                        const std::map<std::string, CopySpeed>& speeds) {
  constexpr double kSlow = 10;
  std::uint64_t largest = 0;
  for (const json& cache : context.value("caches", json::array())) {
    if (cache.is_object()) largest = std::max(largest, count_at(cache, "size"));
  }
  for (Entry& entry : entries) {
    if (!entry.gb_per_s || entry.cell.exchange.bytes >= 2 * largest) continue;
    const auto speed = speeds.find(entry.cell.exchange.environment);
    const bool is_slow = entry.cell.exchange.device == "cpu" && speed != speeds.end() &&
                         *entry.gb_per_s * kSlow < speed->second.warm_gb_per_s;
    if (!is_slow) warn(entry.warnings, "in-cache");
  }
}

unsigned cores_in(const json& context) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(count_at(context, "num_cpus"), 1, 4096));
}

/// Removes the rates of copies that no copy of all bytes can have, even with all cores.
void remove_impossible_rates(std::vector<Entry>& entries,
                             const std::map<std::string, Environment>& environments,
                             const json& context) {
  for (Entry& entry : entries) {
    const auto environment = environments.find(entry.cell.exchange.environment);
    if (!entry.gb_per_s || entry.cell.exchange.device != "cpu" || environment == environments.end())
      continue;
    const auto& floors = environment->second.copy_floors_gb_per_s;
    const auto warm = floors.find("warm " + std::to_string(entry.cell.exchange.bytes));
    if (warm == floors.end()) continue;
    const double slowest = *entry.gb_per_s * entry.median_ns / std::max(entry.hi_ns, 1.0);
    if (slowest > stats::median(warm->second) * cores_in(context)) entry.gb_per_s.reset();
  }
}

std::map<std::string, CopySpeed> copy_speeds(const std::map<std::string, Environment>& environments,
                                             const json& context) {
  std::map<std::string, CopySpeed> speeds;
  for (const auto& [name, environment] : environments) {
    const auto warm = environment.copy_floors_gb_per_s.find("warm");
    if (warm == environment.copy_floors_gb_per_s.end()) continue;
    speeds[name] = {stats::median(warm->second), cores_in(context)};
  }
  return speeds;
}

void write_items(AtomicFile& file, std::string_view key, const std::vector<const Entry*>& entries) {
  file.write(",\n\"");
  file.write(key);
  file.write("\": [");
  std::string_view gap = "\n";
  for (const Entry* entry : entries) {
    const OrderedJson item = entry_to_json(*entry);
    require_finite(item);
    file.write(gap);
    file.write(item.dump(-1, ' ', true, OrderedJson::error_handler_t::replace));
    gap = ",\n";
  }
  file.write("]");
}

}  // namespace

void write_document(JournalContents contents, const std::filesystem::path& path) {
  const std::map<std::string, Environment> environments = by_environment(contents.workers);
  const std::map<std::string, CopySpeed> speeds =
      copy_speeds(environments, contents.header.context);
  judge_slopes(contents.entries, speeds);
  Spreads spreads = spreads_of(contents.entries, environments);
  for (Entry& entry : contents.entries) {
    if (is_measured(entry.outcome)) conclude(entry, spreads[spread_of(entry)]);
  }
  remove_impossible_rates(contents.entries, environments, contents.header.context);
  mark_cached_copies(contents.entries, contents.header.context, speeds);

  std::vector<std::pair<std::string, const Entry*>> order;
  order.reserve(contents.entries.size());
  for (const Entry& entry : contents.entries) order.emplace_back(name(entry.cell), &entry);
  std::sort(order.begin(), order.end());
  std::vector<const Entry*> measured, others;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].first == order[i - 1].first) {
      throw UsageError("the journal has two entries for " + order[i].first);
    }
    (is_measured(order[i].second->outcome) ? measured : others).push_back(order[i].second);
  }

  const json context = context_of(contents, environments, spreads);
  require_finite(context);
  AtomicFile file(path);
  file.write("{\"context\": ");
  file.write(context.dump(1, ' ', true, json::error_handler_t::replace));
  write_items(file, "benchmarks", measured);
  write_items(file, "not_measured", others);
  file.write("}\n");
  file.commit();
}

std::filesystem::path write_document(const std::filesystem::path& run_directory,
                                     const std::filesystem::path& to) {
  const std::filesystem::path journal = run_directory / "journal.jsonl";
  JournalContents contents = read_journal(journal);
  if (contents.whole_bytes == 0) {
    throw UsageError(journal.string() + ": the journal is empty, so the run did not start");
  }
  std::filesystem::path path = to.empty() ? run_directory / "results.json" : to;
  write_document(std::move(contents), path);
  return path;
}

}  // namespace dlbench::results

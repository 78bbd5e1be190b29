#include "results/entry_json.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "model/error.hpp"
#include "model/names.hpp"
#include "results/api_calls.hpp"
#include "results/sync_json.hpp"

namespace dlbench::results {
namespace {

void put_axes(OrderedJson& item, const Cell& cell) {
  each_axis(cell, [&item](const char* key, const auto& value) { item[key] = value; });
}

OrderedJson seen_to_json(const Seen& seen) {
  OrderedJson item;
  item["used"] = seen.used;
  item["via"] = seen.via;
  item["calls"] = seen.calls;
  item["struct"] = seen.struct_name;
  item["version"] = seen.version;
  item["flags"] = seen.flags;
  if (seen.guard) {
    item["guard"] = {{"pages", seen.guard->pages},
                     {"read", seen.guard->read},
                     {"written", seen.guard->written},
                     {"late", seen.guard->late},
                     {"by", seen.guard->by}};
  }
  return item;
}

void put_breakdown(OrderedJson& item, const Breakdown& breakdown) {
  item["unexplained_ns"] = breakdown.unexplained_ns;
  item["unexplained_lo_ns"] = breakdown.unexplained_lo_ns;
  item["unexplained_hi_ns"] = breakdown.unexplained_hi_ns;
  OrderedJson parts = OrderedJson::array();
  for (const Breakdown::Part& part : breakdown.parts) {
    parts.push_back({{"phase", part.phase}, {"what", part.what}, {"ns", part.ns}});
    if (!part.failed_by.empty()) parts.back()["failed_by"] = part.failed_by;
  }
  item["phases"] = {
      {"via", breakdown.via}, {"exchange_ns", breakdown.exchange_ns}, {"parts", parts}};
}

void put_verdict(OrderedJson& item, const Entry& entry) {
  item["changed"] = entry.changed;
  if (!entry.copied_by.empty()) item["copied_by"] = entry.copied_by;
  if (entry.late_read) item["late_read"] = true;
  const Evidence& evidence = entry.evidence;
  item["evidence"] = {{"address", to_string(evidence.address)},
                      {"guard", to_string(evidence.guard)},
                      {"write", to_string(evidence.write)},
                      {"slope", to_string(evidence.slope)}};
}

void put_timer(OrderedJson& item, const Entry& entry) {
  if (!entry.device_timer) return;
  item["device_timer"] = {{"step_ns", entry.device_timer->step_ns},
                          {"empty_ns", entry.device_timer->empty_ns},
                          {"scatter_ns", entry.device_timer->scatter_ns}};
}

void put_numbers(OrderedJson& item, const Entry& entry) {
  put_verdict(item, entry);
  if (entry.has_ready) item["has_ready"] = true;
  item["lo_ns"] = entry.lo_ns;
  item["hi_ns"] = entry.hi_ns;
  if (!entry.interval.empty()) item["interval"] = entry.interval;
  if (entry.between_half_width) item["between_half_width"] = *entry.between_half_width;
  item["mad_ns"] = entry.mad_ns;
  if (entry.floor_ratio > 0) item["floor_ratio"] = entry.floor_ratio;
  if (entry.gb_per_s) item["gb_per_s"] = *entry.gb_per_s;
  if (entry.instructions) item["instructions"] = *entry.instructions;
  if (entry.api_calls) item["api_calls"] = api_calls_to_json(*entry.api_calls);
  put_timer(item, entry);
  if (entry.breakdown) put_breakdown(item, *entry.breakdown);
  item["warnings"] = entry.warnings;
  OrderedJson& workers = item["workers"] = OrderedJson::array();
  for (const WorkerNumbers& worker : entry.workers) {
    OrderedJson& own = workers.emplace_back();
    own = {{"median_ns", worker.median_ns},
           {"first_ns", worker.first_ns},
           {"samples_ns", worker.samples_ns}};
    if (worker.outcome) own["outcome"] = to_string(*worker.outcome);
    if (worker.iterations) own["iterations"] = *worker.iterations;
  }
  item["seen"] = seen_to_json(entry.seen);
}

void put_reason(OrderedJson& item, const Entry& entry) {
  item["reason"] = entry.reason;
  item["code"] = entry.code.empty() ? std::string(to_string(entry.outcome)) : entry.code;
  if (!entry.data.empty()) item["data"] = entry.data;
  const std::array<std::pair<const char*, const std::string*>, 3> details{
      {{"exception", &entry.exception},
       {"signal", &entry.signal},
       {"stderr_tail", &entry.stderr_tail}}};
  for (const auto& [key, text] : details) {
    if (!text->empty()) item[key] = *text;
  }
  if (entry.below_ns) item["below_ns"] = *entry.below_ns;
  put_timer(item, entry);
  if (entry.found) {
    item["found"] = to_string(*entry.found);
    put_verdict(item, entry);
  }
  if (!entry.warnings.empty()) item["warnings"] = entry.warnings;
  if (!entry.seen.used.empty() || !entry.seen.calls.empty())
    item["seen"] = seen_to_json(entry.seen);
}

/// The JSON pointer below `value` of what is not finite; built only where there is such a thing.
std::optional<std::string> not_finite(const OrderedJson& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return "";
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      if (const auto below = not_finite(inner)) return "/" + pointer_part(key) + *below;
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (const auto below = not_finite(value[i])) return "/" + std::to_string(i) + *below;
    }
  }
  return std::nullopt;
}

}  // namespace

OrderedJson entry_to_json(const Entry& entry) {
  OrderedJson item;
  const std::string full_name = name(entry.cell);
  item["name"] = full_name;
  if (is_measured(entry.outcome)) {
    item["run_name"] = full_name;
    item["run_type"] = "iteration";
    item["repetitions"] = 1;
    item["repetition_index"] = 0;
    item["threads"] = 1;
    item["iterations"] = entry.iterations;
    item["real_time"] = entry.median_ns;
    item["cpu_time"] = entry.cpu_ns;
    item["time_unit"] = "ns";
  }
  put_axes(item, entry.cell);
  item["outcome"] = to_string(entry.outcome);
  if (!entry.imports.empty()) item["imports"] = entry.imports;
  if (is_measured(entry.outcome))
    put_numbers(item, entry);
  else
    put_reason(item, entry);
  put_sync(item, entry);
  return item;
}

void require_finite(const OrderedJson& value) {
  if (const std::optional<std::string> place = not_finite(value)) {
    throw UsageError(*place + ": not a finite number; it cannot be written");
  }
}

}  // namespace dlbench::results

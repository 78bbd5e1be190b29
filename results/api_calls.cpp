#include "results/api_calls.hpp"

#include <algorithm>

#include "model/names.hpp"
#include "results/journal.hpp"

namespace dlbench::results {
namespace {

OrderedJson by_kind(const ApiCalls::ByKind& calls) {
  OrderedJson item = OrderedJson::object();
  for (const std::string_view kind : kApiKinds) {
    const auto found = calls.find(std::string(kind));
    if (found != calls.end()) item[std::string(kind)] = found->second;
  }
  return item;
}

/// All kinds have to be there.
ApiCalls::ByKind by_kind_from(const Fields& item) {
  ApiCalls::ByKind calls;
  for (const std::string_view kind : kApiKinds) calls[std::string(kind)] = item.count(kind);
  return calls;
}

}  // namespace

OrderedJson api_calls_to_json(const ApiCalls& calls) {
  OrderedJson item = by_kind(calls.calls);
  if (calls.phases.empty()) return item;
  OrderedJson& phases = item["phases"] = OrderedJson::object();
  for (const std::string_view phase : kPhases) {
    const auto found = calls.phases.find(std::string(phase));
    if (found != calls.phases.end()) phases[std::string(phase)] = by_kind(found->second);
  }
  return item;
}

ApiCalls api_calls_from(const Fields& item) {
  ApiCalls calls;
  calls.calls = by_kind_from(item);
  if (!item.has("phases")) return calls;
  const Fields phases = item.object("phases");
  for (const auto& [phase, value] : phases.members()) {
    if (phase == "exchange" || std::find(kPhases.begin(), kPhases.end(), phase) == kPhases.end()) {
      phases.fail(phase, "a phase: query, export, import or release");
    }
    calls.phases[std::string(phase)] = by_kind_from(phases.object(phase));
  }
  return calls;
}

OrderedJson journal_line(const ApiRecord& record) {
  OrderedJson item;
  item["cell"] = record.cell;
  if (record.calls) item["api_calls"] = api_calls_to_json(*record.calls);
  if (!record.failure.empty()) item["failure"] = record.failure;
  OrderedJson line;
  line["api"] = std::move(item);
  return line;
}

ApiRecord api_record_from(const Fields& item) {
  ApiRecord record;
  record.cell = item.text("cell");
  if (item.has("api_calls")) record.calls = api_calls_from(item.object("api_calls"));
  record.failure = item.text_or("failure", "");
  if (record.calls.has_value() == !record.failure.empty()) {
    item.fail("api_calls", "either counts or a failure");
  }
  return record;
}

void apply(const ApiRecord& record, Entry& entry) {
  forget(entry.warnings, "api-calls-failed");
  entry.api_calls = record.calls;
  if (!record.calls) warn(entry.warnings, "api-calls-failed", "API calls: " + record.failure);
}

void append_api_calls(const std::filesystem::path& run_directory,
                      const std::vector<ApiRecord>& records) {
  std::vector<std::string> cells;
  std::vector<OrderedJson> lines;
  for (const ApiRecord& record : records) {
    cells.push_back(record.cell);
    lines.push_back(journal_line(record));
  }
  append_behind(run_directory, cells, lines);
}

}  // namespace dlbench::results

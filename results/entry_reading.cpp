#include <algorithm>
#include <limits>
#include <utility>

#include "model/error.hpp"
#include "model/names.hpp"
#include "results/api_calls.hpp"
#include "results/entry_json.hpp"
#include "results/sync_json.hpp"

namespace dlbench::results {
namespace {

constexpr std::array<std::string_view, 3> kProofs{"yes", "no", "skipped"};
constexpr std::array<std::string_view, 2> kCopiers{"producer", "consumer"};
constexpr std::array<std::string_view, 1> kIteration{"iteration"};
constexpr std::array<std::string_view, 1> kNanoseconds{"ns"};

void read(const Fields& item, std::string_view key, std::uint64_t& count) {
  count = item.count(key);
}

void read(const Fields& item, std::string_view key, std::string& axis) {
  std::string text = item.text(key);
  const bool bad = text.empty() || std::any_of(text.begin(), text.end(), [](unsigned char letter) {
                     return letter == '/' || letter < ' ' || letter == '\x7f';
                   });
  if (bad) item.fail(key, "a text without '/' or control characters");
  axis = std::move(text);
}

Cell cell_from(const Fields& item) {
  Cell cell;
  cell.phase = item.one_of("phase", kPhases);
  cell.clock = item.one_of("clock", kClocks);
  each_axis_of_exchange(cell.exchange,
                        [&item](const char* key, auto& value) { read(item, key, value); });

  // In a document of several machines the name ends with the machine.
  std::string own = name(cell);
  if (item.has("machine")) {
    std::string machine;
    read(item, "machine", machine);
    own += "/machine:" + machine;
  }
  if (item.text("name") != own) item.fail("name", "the name of its axes, \"" + own + "\"");
  return cell;
}

Proof proof_of(const Fields& evidence, std::string_view key) {
  return proof_from(evidence.one_of(key, kProofs));
}

GuardSeen guard_from(const Fields& item) {
  const GuardSeen guard{item.count("pages"), item.count("read"), item.count("written"),
                        item.count("late"), item.texts("by")};
  if (guard.pages == 0) item.fail("pages", "at least one page");
  if (guard.read > guard.pages) item.fail("read", "at most `pages`");
  if (guard.written > guard.pages) item.fail("written", "at most `pages`");
  if (guard.late > guard.read) item.fail("late", "at most `read`");
  return guard;
}

Seen seen_from(const Fields& item) {
  Seen seen;
  seen.used = item.text("used");
  seen.via = item.text("via");
  seen.calls = item.texts("calls");
  seen.struct_name = item.text("struct");
  for (const Value& part : item.list("version")) {
    if (!part.is_count() || part.count() > std::numeric_limits<std::uint32_t>::max()) {
      item.fail("version", "a list of small integers");
    }
    seen.version.push_back(static_cast<std::uint32_t>(part.count()));
  }
  seen.flags = item.texts("flags");
  if (item.has("guard")) seen.guard = guard_from(item.object("guard"));
  return seen;
}

// What is subtracted from a phase, and on a device's clock, may in some round exceed it.
WorkerNumbers worker_from(const Fields& item, bool is_difference) {
  WorkerNumbers worker;
  worker.median_ns = item.positive("median_ns");
  worker.first_ns = item.number("first_ns");
  worker.samples_ns = is_difference ? item.numbers("samples_ns") : item.positives("samples_ns");
  if (item.has("outcome")) {
    worker.outcome = outcome_from(item.one_of("outcome", kOutcomes));
    if (!is_measured(*worker.outcome)) item.fail("outcome", "an outcome of a measured cell");
  }
  if (item.has("iterations")) worker.iterations = item.count("iterations");
  return worker;
}

Breakdown breakdown_from(const Fields& item) {
  Breakdown breakdown;
  breakdown.unexplained_ns = item.signed_number("unexplained_ns");
  breakdown.unexplained_lo_ns = item.signed_number("unexplained_lo_ns");
  breakdown.unexplained_hi_ns = item.signed_number("unexplained_hi_ns");
  if (breakdown.unexplained_lo_ns > breakdown.unexplained_hi_ns) {
    item.fail("unexplained_lo_ns", "at most unexplained_hi_ns");
  }
  const Fields phases = item.object("phases");
  breakdown.via = phases.text("via");
  breakdown.exchange_ns = phases.positive("exchange_ns");
  for (const Value& part : phases.list("parts")) {
    const Fields fields(part, phases.place("parts") + "/" + std::to_string(breakdown.parts.size()));
    breakdown.parts.push_back({fields.one_of("phase", kPhases), fields.text("what"),
                               fields.signed_number("ns"), fields.text_or("failed_by", "")});
  }
  return breakdown;
}

void read_verdict(const Fields& item, Entry& entry) {
  entry.changed = item.texts("changed");
  if (item.has("copied_by")) entry.copied_by = item.one_of("copied_by", kCopiers);
  entry.late_read = item.has("late_read") && item.flag("late_read");
  const Fields evidence = item.object("evidence");
  entry.evidence = {proof_of(evidence, "address"), proof_of(evidence, "guard"),
                    proof_of(evidence, "write"), proof_of(evidence, "slope")};
}

void read_timer(const Fields& item, Entry& entry) {
  if (!item.has("device_timer")) return;
  const Fields timer = item.object("device_timer");
  entry.device_timer = {timer.positive("step_ns"), timer.number("empty_ns"),
                        timer.number("scatter_ns")};
}

Warnings warnings_from(const Fields& item) {
  Warnings warnings;
  for (const Value& one : item.list("warnings")) {
    const Fields fields(one, item.place("warnings") + "/" + std::to_string(warnings.size()));
    const std::string code = fields.text("code");
    if (!codes::is_warning(code)) fields.fail("code", "the code of a warning");
    warnings.push_back({code, fields.text("text"), data_from(fields)});
  }
  return warnings;
}

void read_numbers(const Fields& item, Entry& entry) {
  if (item.text("run_name") != item.text("name")) item.fail("run_name", "the entry's name");
  item.one_of("run_type", kIteration);
  item.one_of("time_unit", kNanoseconds);
  for (const std::string_view key : {"repetitions", "repetition_index", "threads"}) item.count(key);
  entry.iterations = item.count("iterations");
  entry.median_ns = item.positive("real_time");
  entry.cpu_ns = item.number("cpu_time");
  entry.lo_ns = item.number("lo_ns");
  entry.hi_ns = item.number("hi_ns");
  if (entry.lo_ns > entry.hi_ns) item.fail("lo_ns", "at most hi_ns");
  if (item.has("interval")) entry.interval = item.one_of("interval", kIntervals);
  if (item.has("between_half_width")) {
    entry.between_half_width = item.number("between_half_width");
  }
  entry.mad_ns = item.number("mad_ns");
  if (item.has("floor_ratio")) entry.floor_ratio = item.positive("floor_ratio");
  if (item.has("gb_per_s")) entry.gb_per_s = item.positive("gb_per_s");
  if (item.has("instructions")) entry.instructions = item.positive("instructions");

  if (item.has("api_calls")) entry.api_calls = api_calls_from(item.object("api_calls"));
  read_timer(item, entry);
  if (item.has("unexplained_ns")) entry.breakdown = breakdown_from(item);

  read_verdict(item, entry);
  entry.has_ready = item.has("has_ready") && item.flag("has_ready");
  entry.warnings = warnings_from(item);
  const bool is_difference = entry.cell.phase != "exchange" || entry.cell.clock == "device";
  for (const Value& worker : item.list("workers")) {
    const std::string place = item.place("workers") + "/" + std::to_string(entry.workers.size());
    entry.workers.push_back(worker_from({worker, place}, is_difference));
  }
  entry.seen = seen_from(item.object("seen"));
}

void read_reason(const Fields& item, Entry& entry) {
  if (item.has("real_time")) item.fail("real_time", "no number beside a reason");
  entry.reason = item.text("reason");
  entry.exception = item.text_or("exception", "");
  entry.signal = item.text_or("signal", "");
  entry.stderr_tail = item.text_or("stderr_tail", "");
  entry.code = item.text_or("code", "");
  if (entry.code == to_string(entry.outcome)) entry.code.clear();
  entry.data = data_from(item);
  if (item.has("below_ns")) {
    entry.below_ns = item.positive("below_ns");
    if (entry.outcome != Outcome::unsupported) item.fail("below_ns", "outcome `unsupported`");
  }
  read_timer(item, entry);
  if (item.has("found")) {
    entry.found = outcome_from(item.one_of("found", kOutcomes));
    if (entry.outcome != Outcome::not_run && !entry.below_ns) {
      item.fail("found", "nothing beside another outcome");
    }
    if (!is_measured(*entry.found)) item.fail("found", "an outcome of a measured cell");
    read_verdict(item, entry);
  }
  if (item.has("warnings")) entry.warnings = warnings_from(item);
  if (item.has("seen")) entry.seen = seen_from(item.object("seen"));
}

}  // namespace

Warning::Data data_from(const Fields& item) {
  Warning::Data data;
  if (!item.has("data")) return data;
  const Fields fields = item.object("data");
  for (const Member& member : fields.members()) {
    data.emplace(member.key, fields.text(member.key));
  }
  return data;
}

Entry entry_from_json(const Fields& item) {
  Entry entry;
  entry.cell = cell_from(item);
  entry.outcome = outcome_from(item.one_of("outcome", kOutcomes));
  if (item.has("imports")) entry.imports = item.texts("imports");
  if (is_measured(entry.outcome))
    read_numbers(item, entry);
  else
    read_reason(item, entry);
  read_sync(item, entry);
  return entry;
}

}  // namespace dlbench::results

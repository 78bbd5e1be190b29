#include "results/records.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include "model/error.hpp"
#include "model/names.hpp"
#include "results/field_io.hpp"
#include "results/schema/schema.hpp"

namespace dlbench::results {
namespace {

template <typename T>
T& made(std::optional<T>& value) {
  return value ? *value : value.emplace();
}
template <typename T>
const T& made(const std::optional<T>& value) {
  return *value;
}

}  // namespace

template <typename Io, Is<Warning> T>
void fields(Io& io, T& warning) {
  io("code", warning.code);
  io("text", warning.text);
  io.known("data", warning.data);
}

template <typename Io, Is<Evidence> T>
void fields(Io& io, T& evidence) {
  io("address", evidence.address);
  io("guard", evidence.guard);
  io("write", evidence.write);
  io("slope", evidence.slope);
}

template <typename Io, Is<GuardCounts> T>
void fields(Io& io, T& guard) {
  io("pages", guard.pages);
  io("read", guard.read);
  io("written", guard.written);
  io("late", guard.late);
  io("by", guard.by);
}

template <typename Io, Is<Observation> T>
void fields(Io& io, T& observed) {
  io("used", observed.used);
  io("via", observed.via);
  io("calls", observed.calls);
  io("struct", observed.struct_name);
  io("version", observed.version);
  io("flags", observed.flags);
  io.known("guard", observed.guard);
}

template <typename Io, Is<Breakdown::Part> T>
void fields(Io& io, T& part) {
  io("phase", part.phase);
  io("what", part.what);
  io("ns", part.ns);
  io.known("failed_by", part.failed_by);
}

template <typename Io, Is<ApiCalls> T>
void fields(Io& io, T& calls) {
  for (const std::string_view kind : kApiKinds) io.member(kind, calls.calls);
  io.group("phases", !calls.phases.empty(), [&] {
    io.object("phases", [&](auto& phases) {
      for (const std::string_view phase : kPhases) phases.member(phase, calls.phases);
    });
  });
}

template <typename Io, Is<DeviceTimer> T>
void fields(Io& io, T& timer) {
  io("step_ns", timer.step_ns);
  io("empty_ns", timer.empty_ns);
  io("scatter_ns", timer.scatter_ns);
}

template <typename Io, Is<WorkerNumbers> T>
void fields(Io& io, T& worker) {
  io("median_ns", worker.median_ns);
  io("first_ns", worker.first_ns);
  io("samples_ns", worker.samples_ns);
  io.known("outcome", worker.outcome);
  io.known("iterations", worker.iterations);
}

template <typename Io, Is<Capture> T>
void fields(Io& io, T& one) {
  io.stream("stream", one.stream);
  io.choice("requested_by", one.is_own_call, "consumer", "dlbench");
  io.choice("producer_stream", one.is_one_stream, "same", "other");
  io("result", one.result);
  io.known("nodes", one.nodes);
  io.known("at", one.at);
  io.known("error", one.error);
  io.known("reason", one.reason);
}

template <typename Io, Is<Ordering> T>
void fields(Io& io, T& one) {
  io.stream("stream", one.stream);
  io.choice("requested_by", one.is_own_call, "consumer", "dlbench");
  io("reads_on", one.reads_on);
  io.known("expected", one.expected);
  io.known("waits", one.waits);
  io.known("content", one.content);
  io.known("transfer_ns", one.transfer_ns);
  io.known("export_blocked", one.export_blocked);
  io.known("import_blocked", one.import_blocked);
  io.known("gap_ns", one.gap_ns);
  io.group("code", !one.reason.code.empty(), [&] {
    io("reason", one.reason.text);
    io("code", one.reason.code);
    io.known("data", one.reason.data);
  });
}

namespace {

template <typename Io, typename T>
void verdict_fields(Io& io, T& entry) {
  io("changed", entry.changed);
  io.known("copied_by", entry.copied_by);
  io.known("late_read", entry.late_read);
  io("evidence", entry.evidence);
}

template <typename Io, typename T>
void number_fields(Io& io, T& entry) {
  verdict_fields(io, entry);
  io.known("has_ready", entry.has_ready);
  io("lo_ns", entry.lo_ns);
  io("hi_ns", entry.hi_ns);
  io.known("interval", entry.interval);
  io.known("between_half_width", entry.between_half_width);
  io("mad_ns", entry.mad_ns);
  io.known("floor_ratio", entry.floor_ratio);
  io.known("gb_per_s", entry.gb_per_s);
  io.known("instructions", entry.instructions);
  io.known("api_calls", entry.api_calls);
  io.known("device_timer", entry.device_timer);
  io.group("unexplained_ns", entry.breakdown.has_value(), [&] {
    auto& breakdown = made(entry.breakdown);
    io("unexplained_ns", breakdown.unexplained_ns);
    io("unexplained_lo_ns", breakdown.unexplained_lo_ns);
    io("unexplained_hi_ns", breakdown.unexplained_hi_ns);
    io.object("phases", [&](auto& phases) {
      phases("via", breakdown.via);
      phases("exchange_ns", breakdown.exchange_ns);
      phases("parts", breakdown.parts);
    });
  });
  io("warnings", entry.warnings);
  io("workers", entry.workers);
  io("observed", entry.observed);
}

template <typename Io, typename T>
void reason_fields(Io& io, T& entry) {
  io("reason", entry.reason);
  io("code", entry.code);
  io.known("data", entry.data);
  io.known("exception", entry.exception);
  io.known("signal", entry.signal);
  io.known("stderr_tail", entry.stderr_tail);
  io.known("below_ns", entry.below_ns);
  io.known("device_timer", entry.device_timer);
  io.group("found", entry.found.has_value(), [&] {
    io("found", entry.found);
    verdict_fields(io, entry);
  });
  io.known("warnings", entry.warnings);
  const bool is_observed = !entry.observed.used.empty() || !entry.observed.calls.empty();
  io.group("observed", is_observed, [&] { io("observed", entry.observed); });
}

template <typename Io, typename T>
void sync_fields(Io& io, T& record) {
  io.known("sync", record.sync);
  io.known("late_free", record.late_free);
}

template <typename Io, typename T>
void capture_field(Io& io, T& record) {
  io.known("capture", record.capture);
}

}  // namespace

/// All fields except the name, which repeats the axes. The outcome must be set before.
template <typename Io, Is<Entry> T>
void fields(Io& io, T& entry) {
  const bool measured = is_measured(entry.outcome);
  if (measured) {
    io.constant("run_name", name(entry.cell));
    io.constant("run_type", "iteration");
    io.constant("repetitions", 1);
    io.constant("repetition_index", 0);
    io.constant("threads", 1);
    io("iterations", entry.iterations);
    io("real_time", entry.median_ns);
    io("cpu_time", entry.cpu_ns);
    io.constant("time_unit", "ns");
  }
  each_axis(entry.cell, [&](std::string_view key, auto& value) {
    io.group(key, key != "machine" || !entry.cell.machine.empty(), [&] { io(key, value); });
  });
  io("outcome", entry.outcome);
  io.known("imports", entry.imports);
  if (measured)
    number_fields(io, entry);
  else
    reason_fields(io, entry);
  sync_fields(io, entry);
  capture_field(io, entry);
}

template <typename Io, Is<WorkerRecord> T>
void fields(Io& io, T& worker) {
  io("environment", worker.environment);
  io("imports", worker.imports);
  io("python", worker.python);
  io("gil", worker.gil);
  io("floors_ns", worker.floors_ns);
  io.known("copy_floors_gb_per_s", worker.copy_floors_gb_per_s);
  io.known("copy_floors_bytes", worker.copy_floors_bytes);
  io.known("reference_ns", worker.reference_ns);
  io("libraries", worker.libraries);
  io.known("import_effects", worker.import_effects);
  io.known("import_seconds", worker.import_seconds);
  io("import_s", worker.import_s);
}

template <typename Io, Is<EndRecord> T>
void fields(Io& io, T& end) {
  io("wall_s", end.wall_s);
  io("round_s", end.round_s);
  io("signal", end.signal);
}

template <typename Io, Is<CountRecord> T>
void fields(Io& io, T& count) {
  io("cell", count.cell);
  io.known("instructions", count.instructions);
  io.known("failure", count.failure);
}

template <typename Io, Is<ApiRecord> T>
void fields(Io& io, T& record) {
  io("cell", record.cell);
  io.known("api_calls", record.calls);
  io.known("failure", record.failure);
}

template <typename Io, Is<SyncRecord> T>
void fields(Io& io, T& record) {
  io("cell", record.cell);
  sync_fields(io, record);
  io.known("race", record.race);
  io.known("failure", record.failure);
}

template <typename Io, Is<CaptureRecord> T>
void fields(Io& io, T& record) {
  io("cell", record.cell);
  capture_field(io, record);
}

namespace {

// Rules that the schema cannot express.

void require_order(const Fields& item, const char* low, double lo, const char* high, double hi) {
  if (lo > hi) item.fail(low, std::string("at most ") + high);
}

void require_name(const Fields& item, const Cell& cell) {
  const std::string own = name(cell);
  if (item.text("name") != own) item.fail("name", "the name that its axes form, \"" + own + "\"");
}

void require_pages(const Fields& item, const Observation& observed) {
  if (!observed.guard) return;
  const auto fail = [&](const char* key, const char* expected) {
    item.object("observed").object("guard").fail(key, expected);
  };
  if (observed.guard->read > observed.guard->pages) fail("read", "at most `pages`");
  if (observed.guard->written > observed.guard->pages) fail("written", "at most `pages`");
  if (observed.guard->late > observed.guard->read) fail("late", "at most `read`");
}

void require_words(const Fields& item, const std::vector<Ordering>& sync) {
  for (std::size_t i = 0; i < sync.size(); ++i) {
    const Ordering& one = sync[i];
    const bool may_have_both = one.waits == Waits::inconclusive || one.waits == Waits::no_delay ||
                               one.waits == Waits::none;
    if (one.reason.code.empty() ? one.waits.has_value() : !one.waits || may_have_both) continue;
    const Fields place(item.list("sync")[i], item.place("sync") + "/" + std::to_string(i));
    place.fail("waits", "a value or a reason; inconclusive, no-delay and none may have both");
  }
}

void require_sense(const Fields& item, const Entry& entry) {
  require_name(item, entry.cell);
  require_pages(item, entry.observed);
  require_words(item, entry.sync);
  if (is_measured(entry.outcome)) {
    if (item.text("run_name") != item.text("name")) item.fail("run_name", "the entry's name");
    require_order(item, "lo_ns", entry.lo_ns, "hi_ns", entry.hi_ns);
    if (!entry.breakdown) return;
    require_order(item, "unexplained_lo_ns", entry.breakdown->unexplained_lo_ns,
                  "unexplained_hi_ns", entry.breakdown->unexplained_hi_ns);
    return;
  }
  if (entry.below_ns && entry.outcome != Outcome::unsupported) {
    item.fail("below_ns", "outcome `unsupported`");
  }
  if (entry.found && entry.outcome != Outcome::not_run && !entry.below_ns) {
    item.fail("found", "no such key with this outcome");
  }
}

/// Requires either a value or the reason why there is none.
void require_one(const Fields& item, const char* key, bool has_value, const std::string& failure) {
  if (has_value == !failure.empty()) item.fail(key, "either a value or a failure");
}

template <typename Record>
OrderedJson line(const char* key, const Record& record) {
  OrderedJson made;
  Put put(made[key]);
  fields(put, record);
  return made;
}

template <typename Record>
Record record_from(const Fields& item, const char* part) {
  check(item.value(), Schema::of_journal().part(part), item.place());
  Record record;
  Get get(item);
  fields(get, record);
  return record;
}

/// The JSON pointer of the first number below `value` that is not finite, or nothing.
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
  item["name"] = name(entry.cell);
  Put put(item);
  fields(put, entry);
  if (!is_measured(entry.outcome) && entry.code.empty()) item["code"] = to_string(entry.outcome);
  return item;
}

OrderedJson line_of(const Entry& entry) {
  OrderedJson line;
  line["entry"] = entry_to_json(entry);
  return line;
}
OrderedJson line_of(const WorkerRecord& worker) {
  return line("worker", worker);
}
OrderedJson line_of(const EndRecord& end) {
  return line("end", end);
}
OrderedJson line_of(const CountRecord& count) {
  return line("count", count);
}
OrderedJson line_of(const ApiRecord& record) {
  return line("api", record);
}
OrderedJson line_of(const SyncRecord& record) {
  return line("sync", record);
}
OrderedJson line_of(const CaptureRecord& record) {
  return line("capture", record);
}

Entry entry_from_json(const Fields& item, bool measured) {
  const Schema& schema = Schema::of_results();
  static const Schema::Part& kMeasured = schema.part("/$defs/measured");
  static const Schema::Part& kOther = schema.part("/$defs/not_measured");
  check(item.value(), measured ? kMeasured : kOther, item.place());
  Entry entry;
  entry.outcome = outcome_from(item.text("outcome"));
  Get get(item);
  fields(get, entry);
  if (entry.code == to_string(entry.outcome)) entry.code.clear();
  require_sense(item, entry);
  return entry;
}

WorkerRecord worker_from(const Fields& item) {
  // Most of its facts become those of its environment in the document.
  check(item.value(), Schema::of_results().part("/$defs/environment"), item.place());
  return record_from<WorkerRecord>(item, "/$defs/worker");
}

EndRecord end_from(const Fields& item) {
  return record_from<EndRecord>(item, "/$defs/end");
}

CountRecord count_from(const Fields& item) {
  auto count = record_from<CountRecord>(item, "/$defs/afterwards");
  require_one(item, "instructions", count.instructions.has_value(), count.failure);
  return count;
}

ApiRecord api_record_from(const Fields& item) {
  if (const Value* const calls = item.find("api_calls")) {
    check(*calls, Schema::of_results().part("/$defs/api_calls"), item.place("api_calls"));
  }
  auto record = record_from<ApiRecord>(item, "/$defs/afterwards");
  require_one(item, "api_calls", record.calls.has_value(), record.failure);
  return record;
}

SyncRecord sync_record_from(const Fields& item) {
  // `sync` and `late_free` have the schema of an entry.
  const Schema& schema = Schema::of_results();
  check(item.value(), schema.part("/$defs/axes"), item.place(), Completeness::partial);
  const std::span<const Value> sync =
      item.has("sync") ? item.list("sync") : std::span<const Value>();
  for (std::size_t i = 0; i < sync.size(); ++i) {
    check(sync[i], schema.part("/$defs/ordering"), item.place("sync") + "/" + std::to_string(i));
  }
  auto record = record_from<SyncRecord>(item, "/$defs/afterwards");
  require_words(item, record.sync);
  return record;
}

CaptureRecord capture_record_from(const Fields& item) {
  // `capture` has the schema of an entry.
  const Schema& schema = Schema::of_results();
  for (const Value& one : item.list("capture")) {
    check(one, schema.part("/$defs/capture"), item.place("capture"));
  }
  return record_from<CaptureRecord>(item, "/$defs/afterwards");
}

void require_finite(const OrderedJson& value) {
  if (const std::optional<std::string> place = not_finite(value)) {
    throw UsageError(*place + ": cannot write a number that is not finite");
  }
}

}  // namespace dlbench::results

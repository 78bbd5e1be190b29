#include "results/records.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include "model/codes.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "results/schema/describe.hpp"
#include "results/schema/field_io.hpp"
#include "results/schema/shared_fields.hpp"

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

constexpr std::size_t kMeasured = 4;  ///< outcomes with a number
const std::string kMeasuredWords = joined(std::span(kOutcomes).first(kMeasured));
const std::string kReasonWords = joined(std::span(kOutcomes).subspan(kMeasured));
const std::string kCodeWords = joined(codes::kAll) + " " + kReasonWords;
const std::string kWarningWords = joined(codes::kWarnings);
const std::string kSyncWords = joined(codes::kSyncReasons);
const std::string kPartWords = joined(std::span(kPhases).subspan(1));
const std::string kWaitsWords = joined(kWaits);
const std::string kCapturedWords = joined(kCaptured);
constexpr Rule kProof{.name = "proof",
                      .sentence = "yes: memory is shared; no: it was copied; skipped: not tested.",
                      .words = "yes no skipped"};
constexpr Rule kPages = between(1, kMostCount);

}  // namespace

template <typename Io, Is<Warning> T>
void fields(Io& io, T& warning) {
  warning_fields(io, warning, kWarningWords);
}

template <typename Io, Is<Evidence> T>
void fields(Io& io, T& evidence) {
  io("address", evidence.address,
     {kProof, "Is the first element of both arrays at the same address?"});
  io("guard", evidence.guard, {kProof, "Was no page of the source read during the exchange?"});
  io("write", evidence.write, {kProof, "Is a write into one array visible in the other?"});
  io("slope", evidence.slope, {kProof, "Does the time stay the same for larger arrays?"});
}

template <typename Io, Is<GuardCounts> T>
void fields(Io& io, T& guard) {
  io("pages", guard.pages, {kPages, "Whole pages inside the array; above 64 MiB groups of pages."});
  io("read", guard.read, "Pages that were read.");
  io("written", guard.written, "Pages that were written.");
  io("late", guard.late, "Pages that were read after the call had returned.");
  io("by", guard.by, "File names of the libraries that read or wrote.");
}

template <typename Io, Is<Observation> T>
void fields(Io& io, T& observed) {
  io("used", observed.used,
     "The protocol that transferred the data; `own` if no request was observed.");
  io("via", observed.via,
     {kAny.or_else("\"direct\""),
      "What the consumer received: `direct`, the array itself; `proxy`, a proxy that offers one "
      "protocol; `exports`, an object that calls the library's own function (EXPORTS of its "
      "adapter); `recorder`, the array, with `used` as observed by a recording proxy, for "
      "`convert`."});
  io("calls", observed.calls, "Requests of the consumer to the array, in order.");
  io("struct", observed.struct_name, "`legacy`, `versioned` or empty.");
  io("version", observed.version, "Version of the DLPack struct.");
  io("flags", observed.flags, "Flags of a versioned struct.");
  io.known("guard", observed.guard, "The counts of the page guard.");
}

template <typename Io, Is<Breakdown::Part> T>
void fields(Io& io, T& part) {
  io("phase", part.phase, {words(kPartWords), "The step that the call belongs to."});
  io("what", part.what, "The call, as in `observed.calls`.");
  io("ns", part.ns, {kNumber, "Median time; a very short one may be below 0."});
  io.known("failed_by", part.failed_by,
           {words("producer proxy"), "For a failed call: which of them raised."});
}

template <typename Io, typename Kinds>
void kind_fields(Io& io, Kinds& kinds) {
  io.member("memcpy", kinds, "Calls that copy.");
  io.member("memset", kinds, "Calls that fill.");
  io.member("alloc", kinds, "Calls that allocate.");
  io.member("free", kinds, "Calls that free.");
  io.member("event", kinds, "Calls that create, record or destroy an event.");
  io.member("query", kinds, "Calls that query without waiting whether work is done.");
  io.member("wait", kinds, "Calls that make a stream wait.");
  io.member("sync", kinds, "Calls in which the host waits.");
  io.member("launch", kinds, "Calls that launch kernels and graphs.");
}

template <typename Io, Is<ApiCalls> T>
void fields(Io& io, T& calls) {
  const auto kinds = [](auto& own, auto& by_kind) { kind_fields(own, by_kind); };
  io.common("api_kinds", [&](auto& own) { kinds(own, calls.calls); });
  io.members("phases", calls.phases, std::span(kPhases).subspan(1), kinds,
             {{.name = "api_kinds"},
              "The same by phase. Absent if the exchange cannot be split into phases."});
}

template <typename Io, Is<DeviceTimer> T>
void fields(Io& io, T& timer) {
  io("step_ns", timer.step_ns,
     {kPositive,
      "The smallest difference between two elapsed times. The shortest reported time of an "
      "exchange is two steps, or `scatter_ns` if that is more, divided by `iterations`."});
  io("empty_ns", timer.empty_ns,
     {kNonNegative,
      "Median time of an empty row: two events with nothing between them. It is subtracted from "
      "each row of exchanges."});
  io("scatter_ns", timer.scatter_ns,
     {kNonNegative, "Three times the median absolute deviation of the empty rows."});
}

template <typename Io, Is<WorkerNumbers> T>
void fields(Io& io, T& worker) {
  io("median_ns", worker.median_ns, {kPositive, "Median of the rounds of that process."});
  io("first_ns", worker.first_ns,
     {kNonNegative,
      "The cell's first call in that worker, which no round includes. Other cells may have called "
      "the same libraries in the worker before."});
  io("samples_ns", worker.samples_ns,
     {kNumber.items(1),
      "Mean of each round, in order. Above 0, except for phases and the clock `device`, from which "
      "the instrument's own cost is subtracted."});
  io.known("core_ns", worker.core_ns,
           {kPositive,
            "Time of a fixed computation right before or after a round, the longer of the two; the "
            "mean over the faster half of the rounds. It shows the speed of the core, which "
            "`compare` accounts for."});
  io.known(
      "outcome", worker.outcome,
      {words(kMeasuredWords), "The outcome of this worker, if the workers of the cell disagree."});
  io.known("iterations", worker.iterations,
           "Exchanges in one of its rounds, if the workers of the cell differ.");
}

template <typename Io, Is<Capture> T>
void fields(Io& io, T& one) {
  io.stream("stream", one.stream,
            "The argument `stream`: a number; `own`, the capturing stream; `other`, another stream "
            "that the consumer names; `omitted`: no argument; null: None; `unknown`, if the trial "
            "of the consumer's own call failed.");
  io.choice("requested_by", one.is_own_call, "consumer", "dlbench",
            "`consumer`: the consumer's own argument; `dlbench`: dlbench set the argument.");
  io.choice("producer_stream", one.is_one_stream, "same", "other",
            "`same`: the producer's current stream is the capturing one; `other`: it is another "
            "stream, with unfinished work that fills the array.");
  io("result", one.result,
     {words(kCapturedWords),
      "`captured`: the exchange returns, and the capture ends with a graph; `host-wait`: the same, "
      "but the host waited for the producer's work, which no replay repeats; `refused`: the "
      "exchange raises, and the capture ends with a graph; `invalidated`: the capture ends with an "
      "error; `failed`: unknown, because the trial failed."});
  io.known("nodes", one.nodes,
           "Nodes of the graph: the work that the exchange submits to the capturing stream. Absent "
           "without a graph.");
  io.known(
      "at", one.at,
      {words("export import end"),
       "The call that raised or broke the capture; `end`: only the end of the capture showed it."});
  io.known("error", one.error,
           "The driver's code at the end of the capture: 901 after a call in it broke it. The code "
           "of that call is in `reason`, if the library's message has it.");
  io.known(
      "reason", one.reason,
      "The library's message or the driver's, of a result other than `captured` and `host-wait`.");
}

template <typename Io, Is<Ordering> T>
void fields(Io& io, T& one) {
  io.stream(
      "stream", one.stream,
      "The argument `stream`: a number; `own`, the consumer's own; `foreign`, a stream of "
      "dlbench's that the consumer does not read on; `other`, a stream that the consumer names and "
      "does not read on; `omitted`, no argument, also in protocols that have none; null: None.");
  io.choice("requested_by", one.is_own_call, "consumer", "dlbench",
            "`consumer`: the consumer's own argument; `dlbench`: dlbench set the argument.");
  io("reads_on", one.reads_on,
     {words("own legacy per-thread work host"),
      "Where the result is read: `own`, the stream that the consumer works on; `legacy` and "
      "`per-thread`, the default streams that the argument names; `work`, the stream that the "
      "producer's `current_work_stream` returns, on which the consumer launches; `host`, the "
      "memory of an export with `dl_device` CPU."});
  io.known("expected", one.expected,
           {words("order no-wait refusal"),
            "What the text of the protocol demands: `order`, the read comes after the producer's "
            "work; `no-wait`, the producer does not synchronize; `refusal`, the argument is "
            "refused. Absent where it demands nothing."});
  io.known("waits", one.waits, {words(kWaitsWords), "What waits for the producer's work."});
  io.known("content", one.content,
           {words("old new"),
            "`old` if any first read of the consumer returned old content, else `new`; absent if "
            "no trial had a busy producer."});
  io.known("transfer_ns", one.transfer_ns,
           {kNonNegative, "Median time of export and import while the producer is idle."});
  io.known("export_blocked", one.export_blocked,
           {kNumber,
            "Share of a known delay for which the export blocked the host. It is a slope, so it "
            "may be slightly below 0 or above 1."});
  io.known("import_blocked", one.import_blocked, {kNumber, "The same for the import."});
  io.known("gap_ns", one.gap_ns,
           {kNumber,
            "Time from the end of the producer's work to the consumer's read, on the device's own "
            "clock; below 0 if the read came first. Absent if only the producer's library can fill "
            "its queue, because then the device records no times."});
  io.group("reason", !one.reason.code.empty(), [&](bool) {
    io("reason", one.reason.text,
       "Why `waits` is absent (the library's message), why it is `inconclusive` or `no-delay`, or "
       "what `none` cannot be distinguished from.");
    io("code", one.reason.code, {words(kSyncWords), "Code of the reason, for programs."});
    io.known(
        "data", one.reason.data,
        "Values for the names in the code's meaning, such as `exception` of argument-refused.");
  });
}

namespace {

template <typename Io, typename T>
void verdict_fields(Io& io, T& entry) {
  io("changed", entry.changed,
     "Attributes and values that were dropped or converted without an error.");
  io.known("writable", entry.writable,
           {words("both source result neither"),
            "Which of the two arrays that share memory may be written to, as their libraries "
            "describe them; absent if nothing is shared or one is not described."});
  io.known("copied_by", entry.copied_by,
           {words("producer consumer"), "The library that copied; absent if unknown."});
  io.known("late_read", entry.late_read,
           "Whether the source was still read after the call returned. Absent: not observed.");
  io("evidence", entry.evidence, "The result of each instrument.");
}

template <typename Io, typename T>
void number_fields(Io& io, T& entry) {
  verdict_fields(io, entry);
  io.known("has_ready", entry.has_ready,
           "Whether the exchange has a clock `ready`, measured or not, because the data may be "
           "complete after the call. Absent: no.");
  io("lo_ns", entry.lo_ns,
     {kNonNegative, "Lower end of the median's interval; `interval` is its kind."});
  io("hi_ns", entry.hi_ns, {kNonNegative, "Upper end of the interval."});
  io.known(
      "interval", entry.interval,
      {words("within processes range"),
       "within: 95 %, from the rounds of the only process, without the spread between processes. "
       "processes: 95 %, from the medians of two or more processes. range: the range of fewer than "
       "six rounds of one process, with unknown coverage. Absent: unknown."});
  io.known("between_half_width", entry.between_half_width,
           {kNonNegative,
            "Half-width of the 95 % prediction interval for one process, relative to the median of "
            "processes, for exchanges of this duration; see `between_processes`. An interval of "
            "the kind `within` does not include it. Absent if unknown for this duration."});
  io("mad_ns", entry.mad_ns, {kNonNegative, "Median absolute deviation of the rounds, unscaled."});
  io.known("floor_ratio", entry.floor_ratio,
           {kPositive,
            "real_time divided by the overhead floor of its kind of call; absent if the floor is "
            "unknown, and on the clock `device`."});
  io.known("gb_per_s", entry.gb_per_s,
           {kPositive, "Rate of a copy until `ready`, in 10^9 bytes a second."});
  io.known("instructions", entry.instructions,
           {kPositive,
            "Machine instructions of one exchange on the calling thread in user space, as "
            "callgrind counts them. Absent if not counted; the warning `instructions-failed` has "
            "the reason of a failure."});
  io.known("api_calls", entry.api_calls,
           "Calls of the CUDA driver in one exchange, counted in a separate process. Absent if not "
           "counted; the warning `api-calls-failed` has the reason of a failure.");
  io.known("device_timer", entry.device_timer, "The timer of the clock `device`.");
  Breakdown none;
  io.group("unexplained_ns", entry.breakdown.has_value(), [&](bool is_there) {
    auto& breakdown = is_there ? made(entry.breakdown) : none;
    io("unexplained_ns", breakdown.unexplained_ns,
       {kNumber,
        "If phases were measured: the time of the exchange minus all phases, in the rounds of the "
        "phases; signed."});
    io("unexplained_lo_ns", breakdown.unexplained_lo_ns,
       {kNumber,
        "Lower end of the 95 % interval of unexplained_ns, from order statistics over the "
        "rounds."});
    io("unexplained_hi_ns", breakdown.unexplained_hi_ns, {kNumber, "Upper end of that interval."});
    io.object(
        "phases",
        [&](auto& phases) {
          phases("via", breakdown.via,
                 "The object in place of the array: `proxy`; `type`, the array with the methods of "
                 "its type replaced; `capsule`, the capsule alone; `body`: the phases of a `call` "
                 "meet where its body has its arguments.");
          phases("exchange_ns", breakdown.exchange_ns,
                 {kPositive, "The whole exchange in the same rounds."});
          phases("parts", breakdown.parts, "Each call in the order of time.");
        },
        "The phases of the exchange in the order of time. Present together with `unexplained_ns`.");
  });
  io("warnings", entry.warnings, "Caveats of the cell.");
  io("workers", entry.workers, {kAny.items(1), "The processes that measured the cell."});
  io("observed", entry.observed, "Observations of the exchange.");
}

template <typename Io, typename T>
void reason_fields(Io& io, T& entry) {
  io.absent("real_time");
  io("reason", entry.reason, "One line; the library's own message if possible.");
  io("code", entry.code,
     {words(kCodeWords),
      "Code of the reason, for programs: a refinement of the outcome, or the outcome's name."});
  io.known("data", entry.data,
           "Values for the names in the code's meaning, such as `became` of converted. Of a wrong "
           "cell `via` is `proxy` if the consumer imported a proxy.");
  io.known("exception", entry.exception, "Type of the exception that was raised.");
  io.known("signal", entry.signal, "Name of the signal that ended the worker.");
  io.known("stderr_tail", entry.stderr_tail,
           "The last lines that the worker wrote to standard error.");
  io.known("below_ns", entry.below_ns,
           {kPositive,
            "For below-resolution: upper bound on the time of an exchange on the clock `device` "
            "(95 %, from the rounds of one process). `data.limit` is why the bound is not lower: "
            "`step`, `empty-rows` or `rounds`."});
  io.known("device_timer", entry.device_timer, "The timer of the clock `device`.");
  io.group("found", entry.found.has_value(), [&](bool) {
    io.known(
        "found", entry.found,
        {words(kMeasuredWords),
         "For untimed and below-resolution: the outcome that was observed; `changed`, `copied_by`, "
         "`late_read` and `evidence` have their values as for a measured cell."});
    verdict_fields(io, entry);
  });
  io.known("warnings", entry.warnings, "Caveats of the cell.");
  io.known("observed", entry.observed, "Observations of the exchange.");
}

template <typename Io, typename T>
void sync_fields(Io& io, T& record) {
  io.known("sync", record.sync,
           "Synchronization while the producer's queue is busy, one object for each stream "
           "argument. Absent without `--sync`, or where the producer has no queue; the warning "
           "`sync-failed` has the reason of a failure.");
  io.known("late_free", record.late_free,
           {words("safe late inconclusive"),
            "A view is dropped while the consumer's queue still reads. `late`: the read saw the "
            "values that the producer wrote into that memory next. Absent if not tested."});
}

template <typename Io, typename T>
void capture_field(Io& io, T& record) {
  io.known(
      "capture", record.capture,
      "Exchanges while the consumer's stream captures a graph, one object for each stream argument "
      "and stream of the producer. Absent without `--capture`, or on a device without graphs.");
}

}  // namespace

/// The outcome selects the declaration: it must be set before, also for reading.
template <typename Io, Is<Entry> T>
void fields(Io& io, T& entry) {
  const bool measured = is_measured(entry.outcome);
  io.common("axes", [&](auto& own) {
    own.computed(
        "name", [&] { return name(entry.cell); },
        {{.pattern = &kName},
         "Phase and axes of the cell; clock and environment only if they are not `call` and "
         "`default`."});
  });
  if (measured) {
    io.computed(
        "run_name", [&] { return name(entry.cell); }, "The same as `name`.");
    io.constant("run_type", "iteration", "As in Google Benchmark's JSON.");
    io.constant("repetitions", 1, "As in Google Benchmark's JSON.");
    io.constant("repetition_index", 0, "As in Google Benchmark's JSON.");
    io.constant("threads", 1, "As in Google Benchmark's JSON.");
    io("iterations", entry.iterations, "Exchanges in one round; the median over several workers.");
    io("real_time", entry.median_ns,
       {kPositive, "The median of the rounds' means. For a phase: its time in one exchange."});
    io("cpu_time", entry.cpu_ns,
       {kNonNegative,
        "CPU time of the process, over all threads. A phase is too short for the kernel's "
        "accounting, so this is its real_time."});
    io.constant("time_unit", "ns", "Unit of real_time and cpu_time.");
  }
  io.common("axes", [&](auto& own) { axis_fields(own, entry.cell); });
  io("outcome", entry.outcome,
     measured ? About{words(kMeasuredWords), "Whether the memory is shared or was copied."}
              : About{words(kReasonWords), "Why the cell has no number."});
  io.common("axes", [&](auto& own) {
    own.known(
        "imports", entry.imports,
        "The libraries of the pair in the order in which the worker imported them. Absent if it "
        "imported fewer than two.");
  });
  if (measured)
    number_fields(io, entry);
  else
    reason_fields(io, entry);
  io.common("axes", [&](auto& own) {
    sync_fields(own, entry);
    capture_field(own, entry);
  });
}

template <typename Io, Is<WorkerRecord> T>
void fields(Io& io, T& worker) {
  io("environment", worker.environment);
  io("imports", worker.imports);
  io("python", worker.python);
  io("gil", worker.gil);
  environment_fields(io, worker);
  io.known("reference_ns", worker.reference_ns, kPositive);
  io.known("reference_core_ns", worker.reference_core_ns, kPositive);
  io("import_s", worker.import_s, kNonNegative);
}

template <typename Io, Is<EndRecord> T>
void fields(Io& io, T& end) {
  io("wall_s", end.wall_s, kNonNegative);
  io("round_s", end.round_s, kNonNegative);
  io("signal", end.signal);
}

template <typename Io, Is<CountRecord> T>
void fields(Io& io, T& count) {
  io("cell", count.cell);
  io.known("instructions", count.instructions, kPositive);
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

/// Only phases and the clock `device` have samples from which the instrument's cost is subtracted.
void require_positive_samples(const Fields& item, const Entry& entry) {
  if (entry.cell.phase != Phase::exchange || entry.cell.clock == Clock::device) return;
  for (std::size_t i = 0; i < entry.workers.size(); ++i) {
    const std::vector<double>& samples = entry.workers[i].samples_ns;
    const auto low = std::find_if_not(samples.begin(), samples.end(),
                                      [](double ns) { return kPositive.admits(ns); });
    if (low == samples.end()) continue;
    const auto index = static_cast<std::size_t>(low - samples.begin());
    const Fields worker(item.list("workers")[i], item.place("workers") + "/" + std::to_string(i));
    throw UsageError(worker.place("samples_ns") + "/" + std::to_string(index) + ": expected " +
                     kPositive.expected("a number") + ", found " +
                     shown(worker.list("samples_ns")[index]));
  }
}

void require_sense(const Fields& item, const Entry& entry) {
  require_name(item, entry.cell);
  require_pages(item, entry.observed);
  require_words(item, entry.sync);
  if (is_measured(entry.outcome)) {
    if (item.text("run_name") != item.text("name")) item.fail("run_name", "the entry's name");
    require_order(item, "lo_ns", entry.lo_ns, "hi_ns", entry.hi_ns);
    require_positive_samples(item, entry);
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
Record record_from(const Fields& item) {
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

void describe_entries(OrderedJson& definitions) {
  Entry entry;
  for (const auto& [name, outcome] :
       {std::pair("measured", Outcome::zero_copy), std::pair("not_measured", Outcome::not_run)}) {
    entry.outcome = outcome;
    Describe::define(definitions, name, "", [&entry](Describe& io) { fields(io, entry); });
  }
}

OrderedJson entry_to_json(const Entry& entry) {
  OrderedJson item;
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
  Entry entry;
  entry.outcome = measured ? Outcome::zero_copy : Outcome::not_run;
  Get get(item);
  fields(get, entry);
  if (entry.code == to_string(entry.outcome)) entry.code.clear();
  require_sense(item, entry);
  return entry;
}

WorkerRecord worker_from(const Fields& item) {
  return record_from<WorkerRecord>(item);
}

EndRecord end_from(const Fields& item) {
  return record_from<EndRecord>(item);
}

CountRecord count_from(const Fields& item) {
  auto count = record_from<CountRecord>(item);
  require_one(item, "instructions", count.instructions.has_value(), count.failure);
  return count;
}

ApiRecord api_record_from(const Fields& item) {
  auto record = record_from<ApiRecord>(item);
  require_one(item, "api_calls", record.calls.has_value(), record.failure);
  return record;
}

SyncRecord sync_record_from(const Fields& item) {
  auto record = record_from<SyncRecord>(item);
  require_words(item, record.sync);
  return record;
}

CaptureRecord capture_record_from(const Fields& item) {
  item.list("capture");
  return record_from<CaptureRecord>(item);
}

void require_finite(const OrderedJson& value) {
  if (const std::optional<std::string> place = not_finite(value)) {
    throw UsageError(*place + ": cannot write a number that is not finite");
  }
}

}  // namespace dlbench::results

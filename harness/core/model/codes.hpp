#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// Codes of outcomes and warnings. Programs use the codes; the texts are for people and may change.
/// The code of a reason refines the outcome of the cell; without a refinement it is the outcome's
/// name.
namespace dlbench::codes {

// no-protocol
inline constexpr std::string_view kConverted = "converted";
inline constexpr std::string_view kNoDeviceArgument = "no-device-argument";
inline constexpr std::string_view kNoDeviceCall = "no-device-call";
inline constexpr std::string_view kNotExported = "not-exported";
inline constexpr std::string_view kNotImported = "not-imported";
inline constexpr std::string_view kOtherProtocol = "other-protocol";
inline constexpr std::string_view kProxyRefused = "proxy-refused";
inline constexpr std::string_view kPythonObjects = "python-objects";
// wrong
inline constexpr std::string_view kDeleterTwice = "deleter-twice";
inline constexpr std::string_view kDiffersAfterDrop = "differs-after-drop";
inline constexpr std::string_view kSourceChanged = "source-changed";
inline constexpr std::string_view kValuesDiffer = "values-differ";
inline constexpr std::string_view kWrongArguments = "wrong-arguments";
// no-device
inline constexpr std::string_view kNoArraysThere = "no-arrays-there";
// unsupported
inline constexpr std::string_view kBelowResolution = "below-resolution";
inline constexpr std::string_view kMakeFailed = "make-failed";
inline constexpr std::string_view kNoAdapter = "no-adapter";
// not-run
inline constexpr std::string_view kBudget = "budget";
inline constexpr std::string_view kInterrupted = "interrupted";
inline constexpr std::string_view kOthersTimedOut = "others-timed-out";
inline constexpr std::string_view kWouldTimeOut = "would-time-out";
inline constexpr std::string_view kUntimed = "untimed";

struct Meaning {
  std::string_view code, outcome, text;
};

/// All codes that refine an outcome.
inline constexpr std::array<Meaning, 22> kAll{{
    {kConverted, "no-protocol",
     "the array does not override NumPy's function, so NumPy converts the array; `data.became` is "
     "the result's type, or the message where NumPy raises; `data.exception` is the exception's "
     "type"},
    {kNoDeviceArgument, "no-protocol", "the protocol has no argument for another device"},
    {kNoDeviceCall, "no-protocol", "the consumer has no call that imports to another device"},
    {kNotExported, "no-protocol", "the producer's array does not offer the protocol"},
    {kNotImported, "no-protocol", "the consumer has no call for the protocol"},
    {kOtherProtocol, "no-protocol",
     "the consumer imports through another protocol; `data.proxy` is its message if it refused a "
     "proxy that offers only this protocol"},
    {kProxyRefused, "no-protocol",
     "the consumer imports the array but refuses dlbench's proxy, which offers only this protocol"},
    {kPythonObjects, "no-protocol",
     "the consumer returns an array of Python objects instead of numbers, so it shares no data"},
    {kDeleterTwice, "wrong", "the deleter was called twice for one export"},
    {kDiffersAfterDrop, "wrong", "the values changed after the producer's array was dropped"},
    {kSourceChanged, "wrong", "the values of the producer's own array changed"},
    {kValuesDiffer, "wrong", "the result's shape, dtype or values differ from the array's"},
    {kWrongArguments, "wrong",
     "a function did not run once in a call, or it got other arrays, another order or other "
     "values"},
    {kNoArraysThere, "no-device", "the library has no arrays on this device"},
    {kBelowResolution, "unsupported",
     "the exchange takes less than `below_ns` on the device; `data.limit` is why the bound is not "
     "lower: the `step` of the timer, or the scatter of `empty-rows` or of `rounds`"},
    {kMakeFailed, "unsupported", "the producer raised while it made the array"},
    {kNoAdapter, "unsupported", "dlbench has no adapter for the library in this role"},
    {kBudget, "not-run", "the run's budget was used up"},
    {kInterrupted, "not-run", "the run was interrupted"},
    {kOthersTimedOut, "not-run", "two other cases of the same pair, protocol and device timed out"},
    {kWouldTimeOut, "not-run",
     "two smaller sizes failed after so long that this size would exceed `--timeout`"},
    {kUntimed, "not-run", "the case has the outcome of `f32`, so it was not timed"},
}};

struct CodeMeaning {
  std::string_view code, text;
};

/// All warnings of cells.
inline constexpr std::array<CodeMeaning, 57> kWarnings{{
    {"addresses-not-compared", "the addresses of the two arrays could not be read or compared"},
    {"api-calls-failed", "the CUDA calls of the cell could not be counted"},
    {"arguments-copied", "the function got copies of the arguments `data.arguments`, by position"},
    {"bimodal", "the rounds' times form two groups"},
    {"code-not-evicted",
     "another process uses `data.file`, so workers had its code at the same place in memory; "
     "another copy of the file may be slower or faster by a tenth or more"},
    {"contradiction",
     "the instrument `data.trusted` reports `data.result`, and `data.other` reports the opposite; "
     "neither decides, so the outcome is `unproven`"},
    {"copied-lazily", "the data was copied when the result was first read, after `ready`"},
    {"copied-twice", "the producer copied and the consumer copied"},
    {"copy-on-write", "a write into the result does not change the source"},
    {"copy-without-flag", "the producer copied and did not set IS_COPIED"},
    {"deleter-early", "the deleter was called while the result was alive"},
    {"deleter-in-import",
     "`data.count` of `data.deleters` deleters ran before the consumer's call returned"},
    {"deleter-later",
     "`data.count` of `data.deleters` deleters had not run when the result was dropped"},
    {"deleter-never", "the deleter was never called"},
    {"deleter-null", "the export has no deleter"},
    {"disagreement",
     "the instrument `data.trusted` reports `data.result`, and `data.other` reports the opposite; "
     "`data.trusted` decides"},
    {"drift", "the times rise or fall over the rounds"},
    {"dtype-differs",
     "the instrument `data.trusted` reports shared memory, but the dtypes of source and result "
     "differ, so the outcome is `unproven`"},
    {"extras-not-compared", "it is unknown whether a mask, a unit or a similar attribute was kept"},
    {"failed-beside-others",
     "the exchange failed in a worker with other libraries and works in a worker of its pair"},
    {"few-rounds", "the cell has fewer than six rounds"},
    {"first-copy",
     "a worker's first call took longer than a copy of the array, and later ones do not get longer "
     "with the size: the library may return a copy that it keeps, so the outcome is `unproven`"},
    {"flag-without-copy", "IS_COPIED is set and the producer did not copy"},
    {"foreign-type",
     "the producer's array has a type of another library that the worker imports, `data.type`"},
    {"gil-enabled",
     "a library enabled the GIL of a free-threaded Python, so the cell was measured with the GIL"},
    {"host-behind", "the device waited for the host in a third of the rounds or more"},
    {"import-order",
     "`data.library` cannot be imported after `data.first` (`data.outcome`); the other order "
     "works"},
    {"in-cache",
     "the array is smaller than twice the largest cache, so the copy rate may be that of the "
     "cache"},
    {"instructions-failed", "the instructions of the cell could not be counted"},
    {"isolated-library",
     "`data.library` failed with other libraries, so each of its pairs was measured in a worker of "
     "its own"},
    {"later-worker",
     "a later worker failed as `data.outcome`; the numbers are those of the earlier workers"},
    {"memory-grows", "each exchange leaves `data.bytes` bytes allocated"},
    {"memory-not-spoiled",
     "freed memory could not be overwritten, so a late read of it may have been missed"},
    {"migrated-core", "the process changed its core in a third of the rounds or more"},
    {"near-floor", "the time is less than twice the overhead floor"},
    {"no-copy-floors",
     "the device's copy floors are unknown, because the worker died while it measured them"},
    {"no-guard", "the page guard could not be used"},
    {"one-process", "one process measured the cell; another process may differ"},
    {"one-worker-on-device", "the memory of `data.device` allows one worker at a time"},
    {"pages-not-restored",
     "the system could not restore single pages, so the page guard has no result"},
    {"partly-read",
     "`data.read` of `data.pages` pages of the source were read: more than a few values, less than "
     "a copy"},
    {"few-pages-read",
     "`data.read` of `data.pages` pages of the source were read: a few values, no copy"},
    {"phases-slow-cpu", "the CPU was slow in `data.slow` of `data.rounds` rounds of the phases"},
    {"phases-unexplained", "the phases do not add up to the exchange"},
    {"preempted", "another process had the core in a third of the rounds or more"},
    {"python-warning",
     "a library issued the Python warning `data.category`: `data.message`; if `data.call` is "
     "`first`, only in its first call"},
    {"read-late",
     "`data.read` of `data.pages` pages were read, some of them after the data was reported ready"},
    {"read-only-hidden", "the array is read-only, and the export lacks the read-only flag"},
    {"slow-cpu", "the CPU was slow in a third of the rounds or more"},
    {"source-not-checked", "the producer's array could not be compared with the expected values"},
    {"source-written",
     "`data.by` (export, consumer or release) wrote into `data.pages` of `data.of` pages of the "
     "producer's array"},
    {"sync-failed", "the synchronization of the cell could not be classified"},
    {"values-not-checked", "the result's values could not be read"},
    {"waited-for-device", "the consumer's stream is unknown, so the wait was for the whole device"},
    {"worker-lost", "a worker ended unexpectedly, and another worker measured its cells"},
    {"worker-replaced",
     "times of disturbed workers are left out, and other workers measure the cell"},
    {"workers-disagree",
     "the workers found different outcomes; `data` has the number of workers for each"},
}};

/// All warnings of comparisons.
inline constexpr std::array<CodeMeaning, 5> kComparisonWarnings{{
    {"builds-differ", "the runs used two builds of dlbench, whose overhead floors may differ"},
    {"core-speed",
     "the cores were faster or slower in head by `data.by`; all times are those at the speed of "
     "base's cores"},
    {"no-reference",
     "on both sides fewer than two workers measured the reference exchange, so the spread between "
     "processes is known only from the cells' own workers"},
    {"options-differ",
     "the options of the two runs differ; only cells that both requested are compared"},
    {"reference-moved",
     "the reference exchange differs by `data.by` between the runs, so intervals are widened by up "
     "to this amount"},
}};

/// All reasons of one stream argument of `sync`. The text is the reason, unless the reason is a
/// message of the library or the device.
inline constexpr std::string_view kArgumentRefused = "argument-refused";
inline constexpr std::string_view kBeginBlocks = "begin-blocks";
inline constexpr std::string_view kDependentStreams = "dependent-streams";
inline constexpr std::string_view kDeviceFailed = "device-failed";
inline constexpr std::string_view kNeverBusy = "never-busy";
inline constexpr std::string_view kNoConcurrency = "no-concurrency";
inline constexpr std::string_view kNoOtherStream = "no-other-stream";
inline constexpr std::string_view kNotTried = "not-tried";
inline constexpr std::string_view kWorkerEnded = "worker-ended";
inline constexpr std::array<CodeMeaning, 9> kSyncReasons{{
    {kArgumentRefused,
     "the exchange failed with this argument; `reason` is the library's message, or what it lacks, "
     "and `data.exception` the exception's type"},
    {kBeginBlocks,
     "the call that starts the producer's computation blocked for the whole delay in each trial, "
     "so the array was complete before the export began"},
    {kDependentStreams,
     "an unordered read on the consumer's stream ran after the producer's work, so the two streams "
     "are not independent"},
    {kDeviceFailed, "the device refused a call of the trial; `reason` is its message"},
    {kNeverBusy, "the producer's array was complete before the export began, whatever the delay"},
    {kNoConcurrency,
     "no two streams ran at the same time: they share a hardware queue, or launches block"},
    {kNoOtherStream,
     "no stream has unrelated work, so a wait for a wrong stream cannot be distinguished from no "
     "wait"},
    {kNotTried,
     "the run ended before this trial, or an earlier trial of the exchange did not return"},
    {kWorkerEnded,
     "the worker crashed in this trial, or did not return from it; `reason` has the signal or the "
     "deadline"},
}};

/// The text of a code in kSyncReasons.
constexpr std::string_view sync_text(std::string_view code) {
  for (const CodeMeaning& one : kSyncReasons) {
    if (one.code == code) return one.text;
  }
  return {};
}

template <typename Meanings>
constexpr bool has_code(const Meanings& meanings, std::string_view code) {
  return std::any_of(meanings.begin(), meanings.end(),
                     [code](const CodeMeaning& one) { return one.code == code; });
}

/// Is `code` the code of a cell's warning?
constexpr bool is_warning(std::string_view code) {
  return has_code(kWarnings, code);
}

/// A code from these lists. Any other code is a compile error.
struct WarningCode {
  consteval WarningCode(const char* code) : word(code) {  // NOLINT(*-explicit-*)
    if (!is_warning(word) && !has_code(kComparisonWarnings, word)) throw "no such warning";
  }
  std::string_view word;
};

}  // namespace dlbench::codes

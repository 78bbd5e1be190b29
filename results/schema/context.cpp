#include "results/schema/context.hpp"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "results/document.hpp"
#include "results/schema/describe.hpp"
#include "results/schema/shared_fields.hpp"

/// Records of other programs. In a namespace, because other files have records of these names.
namespace dlbench::results::keys {

// Most of these keys are written by Python, and C++ only checks them: their records are empty, and
// the fields are declared with temporary values.
using Text = std::string_view;
using Texts = std::vector<std::string>;
using TextByName = std::map<std::string, std::string>;
using Count = std::uint64_t;
using Number = double;

struct Cache {};
struct BenchmarkContext {};
struct Dropped {};
struct Request {};
struct CompareRequest {};
struct DeviceUse {};
struct Noise {};
struct Unit {};
struct Driver {};
struct Machine {};
struct ReferenceExchange {};
struct ProcessSpread {};
struct Environment {};
struct OfMachine {};
struct ContextOfMachine {};
struct AboutRun {};
struct Context {};
struct Check {};
struct Measured {};
struct NotMeasured {};
struct Document {};

bool is_machine(std::string_view text) {
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char letter) {
           return is_letter(letter) || letter == '.' || letter == '+' || letter == '-';
         });
}
constexpr Pattern kMachineName{"^[A-Za-z0-9_][A-Za-z0-9_.+-]*$", is_machine,
                               "a name of letters, digits, '_', '.', '+', '-'"};

bool is_rule(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto has_only = [](std::string_view part, bool may_have_digits) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [&](char letter) {
      const bool is_digit = letter >= '0' && letter <= '9';
      return (letter >= 'a' && letter <= 'z') || letter == '-' || (may_have_digits && is_digit);
    });
  };
  return point != std::string_view::npos && has_only(text.substr(0, point), false) &&
         has_only(text.substr(point + 1), true);
}
constexpr Pattern kRuleName{"^[a-z-]+[.][a-z0-9-]+$", is_rule, "a rule, as export.copy-true"};

constexpr Rule kWorkersOfRequest = between(1, 1000);
constexpr Rule kPair{.most_items = 2};

}  // namespace dlbench::results::keys

namespace dlbench::results {

template <>
inline constexpr Definition kDefinition<keys::Cache>{"cache"};
template <>
inline constexpr Definition kDefinition<keys::AboutRun>{"dlbench"};
template <>
inline constexpr Definition kDefinition<keys::Noise>{
    "noise",
    "Sources of noise right before the run, as shares. Values that the system does not report are "
    "absent."};
template <>
inline constexpr Definition kDefinition<keys::Machine>{"machine"};
template <>
inline constexpr Definition kDefinition<keys::Environment>{
    "environment", "A Python interpreter with its packages."};
template <>
inline constexpr Definition kDefinition<keys::Context>{"context"};
template <>
inline constexpr Definition kDefinition<keys::Check>{"check"};
template <>
inline constexpr Definition kDefinition<keys::Measured>{"measured"};
template <>
inline constexpr Definition kDefinition<keys::NotMeasured>{"not_measured"};

}  // namespace dlbench::results

namespace dlbench::results::keys {

template <typename Io>
void fields(Io& io, Cache&) {
  io("type", Text(), "Data, Instruction or Unified.");
  io("level", Count(), "1 is nearest to the core.");
  io("size", Count(), "Bytes.");
  io("num_sharing", Count(), "Processors that share it.");
}

template <typename Io>
void fields(Io& io, BenchmarkContext&) {
  io("date", Text(), "ISO 8601, when the run began.");
  io("host_name", Text(), "Name of the machine.");
  io.known("executable", Text(), "The program that ran.");
  io("num_cpus", Count(), "Processors of the machine.");
  io("mhz_per_cpu", Number(), {kNonNegative, "0 where unknown."});
  io("caches", std::vector<Cache>(), "The caches of the processor.");
  io.known("load_avg", std::vector<Number>(),
           {kNonNegative, "Load of the machine over 1, 5 and 15 minutes, when the run began."});
  io("json_schema_version", Count(), "Google Benchmark's, not dlbench's.");
  io("library_build_type", Text(), "release or debug: how dlbench was compiled.");
  io.known("cpu_scaling_enabled", bool(),
           "Whether the frequency governor may change the clock rate.");
  io.known("aslr_enabled", bool(), "Whether addresses are randomized.");
}

template <typename Io>
void fields(Io& io, Dropped&) {
  io("lines", Count(), "Number of such lines.");
  io("first", Text(), "Fault of the first of them.");
}

template <typename Io>
void fields(Io& io, Request&) {
  io.known("pair", Texts(), {{}, "The libraries of `dlbench A B` or `dlbench A B C`."});
  for (const char* const option : {"producers", "consumers", "protocols", "devices", "cases",
                                   "sizes", "arrays", "count", "phases", "env"}) {
    io.known(option, Texts(), "");
  }
  for (const char* const option : {"trace_api", "sync", "capture", "isolate", "evict"}) {
    io.known(option, bool(), "");
  }
  for (const char* const option : {"filter", "budget", "precision", "timeout", "adapters"}) {
    io.known(option, Text(), "");
  }
  io.known("replicas", Count(), kWorkersOfRequest);
  io.known("jobs", Count(), {between(0, 1024), "0: as many as cores, at most 4."});
  io.known("seed", Count(), "");
}

template <typename Io>
void fields(Io& io, CompareRequest&) {
  io("env", Texts(), {kPair, "Base and head; empty if both are the environment of dlbench."});
  io("workers", Count(), {kWorkersOfRequest, "--workers: processes for each side."});
  io("threshold", Number(), {{.least = 0, .most = 1, .is_open = true}, "--threshold, as a share."});
  io("instructions", bool(), "Whether instructions are compared.");
}

template <typename Io>
void fields(Io& io, DeviceUse&) {
  io("device", Text(), "cuda:0, or a kind for all of its devices.");
  io.known("busy", Number(),
           {kNonNegative, "Share of the driver's sampling period in which the device worked."});
  io.known("processes", Count(), "Number of processes that compute on it.");
}

template <typename Io>
void fields(Io& io, Noise&) {
  io("seconds", Number(), {kNonNegative, "Length of the observation."});
  io.known("other_processes", Number(),
           {kNonNegative,
            "Share of the time of the cores that the process may use, used by other processes."});
  io.known("stolen", Number(),
           {kNonNegative, "Share of that time that the hypervisor gave to other machines."});
  io.known("devices", std::vector<DeviceUse>(),
           "Use of the devices, from the counters of their drivers. Absent without a driver.");
  io.known("frequency", Number(),
           {kNonNegative, "Frequency of a busy core, divided by its highest frequency."});
  io.known("reference_ns", Number(),
           {kNonNegative,
            "Median of the reference exchange, native -> native with 4 KiB, in ns. A Python loop "
            "calls it, so it takes longer than in a worker."});
  io.known(
      "reference_spread", Number(),
      {kNonNegative, "Share by which the 95th percentile of its rounds exceeds their median."});
  io("too_busy", bool(),
     "Whether `other_processes` is above 0.2, `stolen` above 0.02, `frequency` below 0.5, or a "
     "device is in use by more than 0.05 or by a process.");
}

template <typename Io>
void fields(Io& io, Unit&) {
  io("name", Text(), "Model of the device.");
  io("uuid", Text(), "Identifies the device.");
  io("mode", Text(),
     "Compute mode: default, exclusive, prohibited or exclusive-process; empty where the driver "
     "does not report it.");
  io.known("facts", TextByName(),
           "Its state before the run: clocks, power limit, persistence mode, ECC, MIG, MPS, PCIe "
           "link, NUMA node and peers. `unknown: SOURCE` names the function of NVML or the file "
           "that did not report a fact.");
}

template <typename Io>
void fields(Io& io, Driver&) {
  io("name", Text(), "cpu, cuda, rocm or another kind.");
  io("state", Text(), "ok, no-library, stub, no-driver, no-device, no-permission or failed.");
  io.known("message", Text(), "Message of the loader or the driver if the state is not ok.");
  io.known("count", Count(), "Number of devices.");
  io.known("version", Text(), "Version of the driver.");
  io.known("units", std::vector<Unit>(), "Its devices, in the driver's order.");
}

template <typename Io>
void fields(Io& io, Machine&) {
  io.known("cpu", Text(), "Model of the processor.");
  io.known("architecture", Text(), "Architecture of the processor.");
  io.known("cores", Count(), "Number of cores that the process may use.");
  io.known("memory_bytes", Count(), "Memory of the machine.");
  io.known("kernel", Text(), "Operating system and its release.");
  io.known("governor", Text(),
           {kAny.or_else("\"unknown\""),
            "Frequency governor. This and the next facts are `unknown` if the system does not "
            "report them."});
  io.known("turbo", Text(), "Whether the processor may exceed its base clock rate.");
  io.known("aslr", Text(), "Whether addresses are randomized.");
  io.known("smt", Text(), "Whether cores run two threads.");
  io.known("huge_pages", Text(), "Setting of transparent huge pages.");
  io.known("numa_nodes", Text(), "NUMA nodes of the cores that the process may use: `0`, `0,1`.");
  io.known("virtual", bool(), "Whether it is a virtual machine.");
  io.known("devices", std::vector<Driver>(), "Kinds of devices, and the state of their drivers.");
}

template <typename Io>
void fields(Io& io, ReferenceExchange&) {
  io("median_ns", Number(), {kPositive, "Median of the workers."});
  io.known("spread", Number(), {kNonNegative, "Half the interquartile range over the median."});
  io.known("core_ns", Number(),
           {kPositive, "Median over the workers of `workers[].core_ns` of its rounds."});
  io("workers", Count(), "Number of workers that measured it.");
}

template <typename Io>
void fields(Io& io, ProcessSpread&) {
  io("length_ns", Number(), {kPositive, "Valid for exchanges from half to twice this duration."});
  io("half_width", Number(),
     {kNonNegative,
      "Half-width of the 95 % prediction interval for one process, relative to the median of "
      "processes."});
  io("series", Count(),
     "Number of exchanges of about this duration, each measured in several processes.");
}

template <typename Io>
void fields(Io& io, Environment&) {
  io("python", Text(), "Version of Python; empty if the interpreter did not report it.");
  io.known("executable", Text(),
           "Path of the interpreter. The environment `default` is the one that dlbench itself ran "
           "in.");
  io.known("failure", Text(),
           "Why no worker can start there: an outcome and a reason. Absent if a worker can "
           "start.");
  io.known("gil", bool(),
           "Whether the interpreter ran with its global lock; absent where no worker ran.");
  WorkerRecord facts;
  environment_fields(io, facts);
  io.known("reference_exchange", ReferenceExchange(),
           "The reference exchange: native -> native, 4 KiB, in every worker. Has no `spread` if "
           "there was only one worker.");
  io.known("between_processes", std::vector<ProcessSpread>(),
           "The spread between processes by the duration of an exchange, in ascending order, from "
           "all cells with several processes and the reference exchanges. Durations of fewer than "
           "six exchanges are left out if another has six or more. Absent if nothing was measured "
           "twice.");
}

template <typename Io>
void run_fields(Io& io) {
  io("schema", Count(), {between(kSchema, kSchema), "Version of this schema."});
  io("version", Text(), "Version of dlbench.");
  io.known("build", Text(), "Build of dlbench.");
  io.known("counted_by", Text(), "The tool that counted instructions.");
  io.known("command", Texts(), "The command line that began the run.");
  io("wall_s", Number(), {kNonNegative, "Wall time of the run, summed over its sessions."});
  io.known("round_s", Number(), {kNonNegative, "The part of wall_s in timed rounds."});
  io.known("signal", Count(), "Number of the signal that ended the last session; 0 without one.");
  io.known("seed", Count(), "Seed of the order of rounds.");
  io.known("dropped", Dropped(),
           "Lines of the journal that could not be read. Their cells are absent until `--resume` "
           "measures them again.");
  io.known("fingerprint", Text(),
           "Fingerprint of the plan: its cells and the libraries' versions.");
  io.known("request", Request(), "The request of the run.");
  io.known("compare", CompareRequest(),
           "For the run of a comparison: the request for its two sides.");
  io.known("not_installed", TextByName(), "How to install the missing libraries.");
  io.known("noise", Noise(), "Sources of noise, observed before the first worker started.");
  io("machine", Machine(), "The machine that measured.");
  io("environments", std::map<std::string, Environment>(),
     "The Python interpreters of the run, by name.");
}

constexpr const char* kBenchmarkContext = "What readers of Google Benchmark's JSON expect.";

template <typename Io>
void benchmark_context(Io& io) {
  BenchmarkContext context;
  io.common(
      "benchmark_context", [&](auto& own) { fields(own, context); }, kBenchmarkContext);
}

template <typename Io>
void fields(Io& io, ContextOfMachine&) {
  benchmark_context(io);
  io.absent("dlbench");
}

template <typename Io>
void fields(Io& io, OfMachine&) {
  io.common("run", [](auto& own) { run_fields(own); });
  io("context", ContextOfMachine(), "The other keys of its context.");
  io.absent("machines");
}

template <typename Io>
void fields(Io& io, AboutRun&) {
  io.common("run", [](auto& own) { run_fields(own); });
  io.known("machines", std::map<std::string, OfMachine>(),
           {{.pattern = &kMachineName},
            "For a document of `dlbench merge`: the content of each machine's document, by name. "
            "Each entry then has one of these names as `machine`, and `machine` and `environments` "
            "above are empty."});
}

template <typename Io>
void fields(Io& io, Context&) {
  benchmark_context(io);
  io("dlbench", AboutRun(), "dlbench's facts about the run.");
}

template <typename Io>
void fields(Io& io, Check&) {
  io("library", Text(), {kAxis, "The library that was tested."});
  io("version", Text(), "Version of the library; empty if unknown.");
  io("rule", Text(),
     {{.pattern = &kRuleName}, "Name of the rule, as `dlbench check --rules` lists it."});
  io("role", Text(), {words("producer consumer"), "The role that the rule tests."});
  io.known("device", Text(), {kAny.or_else("\"cpu\""), "Device of the producer's arrays."});
  io("level", Text(), {words("must should"), "`must` or `should`, as in the specification."});
  io("section", Text(), "Section of the specification that contains the rule.");
  io("outcome", Text(),
     {words("holds broken not-applicable unclear"),
      "unclear: the specification is contradictory or does not cover this."});
  io("observed", Text(), "The observation, in one line.");
  io.known("struct", Text(),
           {words("legacy versioned"), "The struct of the last export to the consumer."});
  io.known("signal", Text(), "Signal that ended the rule's process.");
  io.known("stderr_tail", Text(), "The last lines that the process wrote to standard error.");
  io.known("issue", Text(), "URL of the library's issue about it.");
  io.known("accepted", bool(), "Whether --known listed it; required of a broken rule.");
  io.known("reproducer", Text(),
           "A script that reproduces it without dlbench; empty if the adapter's statements make "
           "none. Required of a broken rule.");
  io.known("machine", Text(),
           {kAxis, "In a document of several machines: a key of `context.dlbench.machines`."});
}

// Their definitions are those of entries, which are read one at a time.
template <typename Io>
void fields(Io&, Measured&) {}
template <typename Io>
void fields(Io&, NotMeasured&) {}

template <typename Io>
void fields(Io& io, Document&) {
  io("context", Context(), "The machine, the run and its environments.");
  io("benchmarks", std::vector<Measured>(), "One entry for each measured cell, sorted by name.");
  io("not_measured", std::vector<NotMeasured>(),
     "One entry for each cell without a number, with the reason, sorted by name.");
  io.known("checks", std::vector<Check>(),
           "The results of `dlbench check`: one entry for each library and rule.");
}

}  // namespace dlbench::results::keys

namespace dlbench::results {

OrderedJson describe_document() {
  OrderedJson definitions = OrderedJson::object();
  describe_entries(definitions);
  return Describe::document(
      {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
       {"$id", "urn:dlbench:results:1"},
       {"title", "A dlbench results document, schema 1"},
       {"description",
        "A superset of Google Benchmark's JSON. Times are in nanoseconds. New keys may be added; a "
        "change of a key's meaning changes `context.dlbench.schema`. Rules that a schema cannot "
        "express: names are unique over `benchmarks` and `not_measured`, lo_ns <= hi_ns, integers "
        "are written without a point, and texts are UTF-8 without lone surrogates. Numbers have "
        "bounds, so that sums, products and ratios stay in the range of a double."}},
      std::move(definitions), [](Describe& io) {
        keys::Document document;
        fields(io, document);
      });
}

void check_document(const Fields& document) {
  Get get(document);
  keys::Document whole;
  fields(get, whole);
}

void check_context(const Fields& context) {
  Get get(context, Completeness::partial);
  keys::Context whole;
  fields(get, whole);
}

}  // namespace dlbench::results

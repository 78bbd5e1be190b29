#include "supervisor/wire.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "model/contains.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "supervisor/process/channel.hpp"

namespace dlbench::supervisor {
namespace {

using nlohmann::json;

// A library's code may damage its worker, so each message is checked. An invalid message is
// recorded as a crash.
template <typename Read>
auto checked(const json& message, Read read) {
  try {
    return read();
  } catch (const json::exception&) {
  } catch (const UsageError&) {
  }
  throw ProtocolError(
      "an answer without the requested content: " +
      presentable(message.dump(-1, ' ', false, json::error_handler_t::replace), 200));
}

// nlohmann::json converts any number to an integer; the result is undefined if it does not fit.
template <typename Count>
Count count_from(const json& value) {
  const bool whole =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  const bool fits = whole && value.get<std::uint64_t>() <= std::numeric_limits<Count>::max();
  if (!fits) throw UsageError("no count");
  return value.get<Count>();
}

GuardCounts read_guard(const json& guard) {
  GuardCounts read;
  read.pages = count_from<std::uint64_t>(guard.at("pages"));
  read.read = count_from<std::uint64_t>(guard.at("read"));
  read.written = count_from<std::uint64_t>(guard.at("written"));
  read.late = count_from<std::uint64_t>(guard.at("late"));
  guard.at("by").get_to(read.by);
  if (read.pages == 0 || read.read > read.pages || read.written > read.pages ||
      read.late > read.read) {
    throw UsageError("more pages than there are");
  }
  return read;
}

Warnings read_warnings(const json& ok) {
  Warnings warnings;
  for (const json& item : ok.value("warnings", json::array())) {
    const std::string code = item.at("code").get<std::string>();
    if (!codes::is_warning(code)) throw UsageError("no such warning");
    warn(warnings, {code, item.at("text").get<std::string>(), item.value("data", Warning::Data{})});
  }
  return warnings;
}

// One of these words, or empty.
std::string word_of(const json& ok, const char* key, const std::vector<std::string>& allowed) {
  std::string word = ok.value(key, "");
  if (!word.empty() && !contains(allowed, word)) {
    throw UsageError(std::string("unknown value for ") + key);
  }
  return word;
}

Observation read_observation(const json& observed) {
  Observation read;
  read.used = observed.value("used", "");
  read.via = observed.value("via", "direct");
  read.calls = observed.value("calls", std::vector<std::string>{});
  read.struct_name = observed.value("struct", "");
  for (const json& part : observed.value("version", json::array())) {
    read.version.push_back(count_from<std::uint32_t>(part));
  }
  read.flags = observed.value("flags", std::vector<std::string>{});
  return read;
}

void read_verdict(const json& ok, Entry& verdict) {
  verdict.outcome = outcome_from(ok.at("outcome").get<std::string>());
  if (!is_measured(verdict.outcome)) throw UsageError("no outcome of a measured cell");
  verdict.changed = ok.value("changed", verdict.changed);
  verdict.writable = word_of(ok, "writable", {"both", "source", "result", "neither"});
  verdict.copied_by = word_of(ok, "copied_by", {"producer", "consumer"});
  verdict.late_read = ok.value("late_read", verdict.late_read);
  if (ok.contains("observed")) verdict.observed = read_observation(ok["observed"]);
  if (ok.contains("guard")) verdict.observed.guard = read_guard(ok["guard"]);
  if (ok.contains("evidence")) {
    const json& evidence = ok["evidence"];
    verdict.evidence.address = proof_from(evidence.value("address", "skipped"));
    verdict.evidence.guard = proof_from(evidence.value("guard", "skipped"));
    verdict.evidence.write = proof_from(evidence.value("write", "skipped"));
    verdict.evidence.slope = proof_from(evidence.value("slope", "skipped"));
  }
  warn(verdict.warnings, read_warnings(ok));
}

}  // namespace

json request_of(const Load& load) {
  return {{"do", "load"}, {"role", load.role}, {"library", load.library}, {"path", load.path}};
}

json prepare_request(const Task& task) {
  const plan::Case array_case = plan::case_named(task.exchange.case_name);
  json exchange = json::object();
  each_axis_of_exchange(task.exchange,
                        [&exchange](const char* key, const auto& value) { exchange[key] = value; });
  json clocks = json::array();
  for (const Samples& samples : task.clocks) clocks.push_back(samples.clock);
  return {{"do", "prepare"},
          {"id", task.id},
          {"exchange", std::move(exchange)},
          {"clocks", clocks},
          {"round_ns", task.round_ns},
          {"case",
           {{"name", array_case.name},
            {"dtype", array_case.dtype},
            {"dims", array_case.dims},
            {"layout", array_case.layout},
            {"storage", array_case.storage},
            {"offset", array_case.offset},
            {"align", array_case.align},
            {"readonly", array_case.readonly},
            {"special", array_case.special}}}};
}

json round_request(const Task& task, const Samples& samples) {
  // Untimed calls warm caches and branch predictors, for at most 2 % of the round.
  const std::uint64_t prelude = std::min<std::uint64_t>(16, (samples.iterations + 32) / 64);
  return {{"do", "round"},
          {"id", task.id},
          {"clock", samples.clock},
          {"iterations", samples.iterations},
          {"prelude", prelude}};
}

json split_request(const Task& task) {
  return {{"do", "split"}, {"id", task.id}};
}

json phases_request(const Task& task, std::uint64_t seed) {
  // After a type is patched, the interpreter needs about a hundred calls to specialize its code
  // again.
  const std::uint64_t prelude = std::clamp<std::uint64_t>(task.phases.iterations / 8, 1, 128);
  return {{"do", "phases"},
          {"id", task.id},
          {"iterations", task.phases.iterations},
          {"prelude", prelude},
          {"seed", seed}};
}

json judge_request(const Task& task) {
  return {{"do", "judge"}, {"id", task.id}};
}

json drop_request(const Task& task) {
  return {{"do", "drop"}, {"id", task.id}};
}

void read_prepared(const json& ok, const std::map<std::string, double>& floors, Task& task) {
  checked(ok, [&] {
    read_verdict(ok, task.verdict);
    for (Samples& samples : task.clocks) {
      samples.without = ok.value("without", json::object()).value(samples.clock, "");
      if (!samples.without.empty()) continue;
      samples.iterations = count_from<std::uint64_t>(ok.at("iterations").at(samples.clock));
      if (samples.iterations == 0) throw UsageError("no iterations");
      samples.first_ns = ok.value("first_ns", json::object()).value(samples.clock, 0.0);
      if (!(samples.first_ns >= 0)) throw UsageError("no time");
      if (samples.clock != Clock::device) continue;
      samples.step_ns = ok.at("device_step_ns").get<double>();
      if (!(samples.step_ns > 0)) throw UsageError("no step");
    }
    const auto floor = floors.find(ok.value("floor", "call"));
    task.floor_ns = floor == floors.end() ? 0 : floor->second;
    task.prepared = true;
    return true;
  });
}

void read_judged(const json& ok, Task& task) {
  checked(ok, [&] {
    read_verdict(ok, task.verdict);
    return true;
  });
}

RoundTime read_round(const json& ok, const std::string& clock) {
  return checked(ok, [&] {
    RoundTime time{ok.at("ns").get<double>(),      ok.value("cpu_ns", 0.0),
                   ok.value("canary_ns", 0.0),     ok.value("moved", false),
                   ok.value("preempted", 0.0) > 0, ok.value("behind", false)};
    if (!(time.cpu_ns >= 0 && time.canary_ns >= 0)) throw UsageError("no time");
    if (clock == Clock::device) {
      time.empty_ns = ok.at("empty_ns").get<double>();
      time.spent_ns = ok.at("spent_ns").get<double>();
      if (!(std::isfinite(time.ns) && time.empty_ns >= 0 && time.spent_ns > 0)) {
        throw UsageError("no time");
      }
    } else if (!(time.ns > 0)) {
      throw UsageError("no time");
    }
    return time;
  });
}

void read_split(const json& ok, PhaseRounds& phases) {
  checked(ok, [&] {
    phases.via = ok.at("via").get<std::string>();
    phases.iterations = count_from<std::uint64_t>(ok.at("iterations"));
    if (phases.iterations == 0) throw UsageError("no iterations");
    phases.warnings = read_warnings(ok);
    phases.calls.clear();
    for (const json& call : ok.at("calls")) {
      const std::string phase = call.at("phase").get<std::string>();
      require_known("phase", phase, std::vector<std::string>{"query", "export"});
      std::string what = call.at("call").get<std::string>();
      const bool ours = call.value("ours", false);
      std::string failed_by;
      if (call.value("raised", false)) {
        what += ours ? " refused by the proxy" : " fails";
        failed_by = ours ? "proxy" : "producer";
      }
      phases.calls.push_back({phase, std::move(what), 0, failed_by});
    }
    phases.prepared = true;
    return true;
  });
}

PhaseTime read_phases(const json& ok, const PhaseRounds& phases) {
  return checked(ok, [&] {
    PhaseTime time;
    time.exchange_ns = ok.at("exchange").get<double>();
    time.calls_ns = ok.at("calls").get<std::vector<double>>();
    time.import_ns = ok.at("import").get<double>();
    time.release_ns = ok.at("release").get<double>();
    time.unexplained_ns = ok.at("unexplained").get<double>();
    time.canary_ns = ok.value("canary_ns", 0.0);
    if (!(time.exchange_ns > 0) || time.calls_ns.size() != phases.calls.size()) {
      throw UsageError("no phases");
    }
    return time;
  });
}

Failure read_error(const json& error, Outcome otherwise) {
  return checked(error, [&] {
    Failure failure{otherwise};
    if (error.contains("outcome")) {
      failure.outcome = outcome_from(error["outcome"].get<std::string>());
    }
    if (is_measured(failure.outcome)) throw UsageError("no outcome of an error");
    failure.exception = error.value("exception", "");
    failure.code = error.value("code", "");
    if (error.contains("data")) {
      failure.data = error["data"].get<std::map<std::string, std::string>>();
    }
    failure.reason = error.value("reason", "");
    std::replace(failure.reason.begin(), failure.reason.end(), '\n', ' ');
    if (failure.reason.empty()) {
      failure.reason =
          failure.exception.empty() ? std::string(to_string(failure.outcome)) : failure.exception;
    }
    return failure;
  });
}

}  // namespace dlbench::supervisor

#include "worker/serve.hpp"

#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "measure/copy_floors.hpp"
#include "model/build.hpp"
#include "trace/nvtx.hpp"
#include "worker/device_floors.hpp"
#include "worker/dispatch.hpp"
#include "worker/floors.hpp"
#include "worker/garbage.hpp"
#include "worker/lines.hpp"
#include "worker/prepared.hpp"
#include "worker/profiling.hpp"
#include "worker/spent.hpp"
#include "worker/watch.hpp"

namespace dlbench::worker {
namespace {

using nlohmann::json;

double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

json to_json(const Judgement& judgement) {
  const Evidence& evidence = judgement.evidence;
  json answer = {{"outcome", to_string(judgement.outcome)},
                 {"changed", judgement.changed},
                 {"copied_by", judgement.copied_by},
                 {"late_read", judgement.late_read},
                 {"evidence",
                  {{"address", to_string(evidence.address)},
                   {"guard", to_string(evidence.guard)},
                   {"write", to_string(evidence.write)},
                   {"slope", to_string(evidence.slope)}}},
                 {"warnings", judgement.warnings}};
  if (const std::optional<GuardSeen>& guard = judgement.guard) {
    answer["guard"] = {{"pages", guard->pages},
                       {"read", guard->read},
                       {"written", guard->written},
                       {"late", guard->late},
                       {"by", guard->by}};
  }
  return answer;
}

json to_json(const Seen& seen) {
  return {{"used", seen.used},          {"via", seen.via},         {"calls", seen.calls},
          {"struct", seen.struct_name}, {"version", seen.version}, {"flags", seen.flags}};
}

template <typename Number>
void put(json& item, const char* key, const std::optional<Number>& value) {
  if (value) item[key] = *value;
}

json to_json(const Handover& one) {
  json item = {{"stream", one.stream}, {"asked", one.asked}, {"owed", one.owed}};
  if (one.waits) item["waits"] = to_string(*one.waits);
  if (!one.saw.empty()) item["saw"] = one.saw;
  put(item, "handoff_ns", one.handoff_ns);
  put(item, "export_blocked", one.export_blocked);
  put(item, "import_blocked", one.import_blocked);
  put(item, "gap_ns", one.gap_ns);
  if (!one.reason.empty()) item["reason"] = one.reason;
  return item;
}

json to_json(const WhoWaits& found) {
  json item = {{"sync", json::array()}};
  for (const Handover& one : found.sync) item["sync"].push_back(to_json(one));
  if (!found.late_free.empty()) item["late_free"] = found.late_free;
  if (!found.race.empty()) item["race"] = found.race;
  return item;
}

Ref python_from(const json& value) {
  const Ref loads = checked(PyImport_ImportModule("json"));
  return checked(PyObject_CallMethod(loads.get(), "loads", "s", value.dump().c_str()));
}

bool has_gil() {
  const Ref sys = checked(PyImport_ImportModule("sys"));
  const Ref enabled = optional_attribute(sys.get(), "_is_gil_enabled");
  return !enabled || PyObject_IsTrue(checked(PyObject_CallNoArgs(enabled.get())).get()) == 1;
}

class Server {
 public:
  explicit Server(Lines& lines) : lines_(lines) {}

  void run() {
    trace::nvtx::attach();
    const std::string python = text_of(PySys_GetObject("version"));
    say({{"hello",
          {{"build", build_id()},
           {"python", python.substr(0, python.find(' '))},
           {"gil", has_gil()},
           {"pid", ::getpid()}}}});
    while (const std::optional<std::string> line = lines_.next()) {
      if (line->empty()) continue;
      const json request = json::parse(*line);
      const std::string& verb = request.at("do").get_ref<const std::string&>();
      if (verb == "end") return;
      Spent::take();
      json reply = answer(verb, request);
      const Spent::Seconds spent = Spent::take();
      reply["spent_s"] = {{"library", spent.library}, {"timing", spent.timing}};
      say(reply);
    }
  }

 private:
  void say(const json& message) {
    lines_.write(message.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  json answer(const std::string& verb, const json& request) {
    try {
      // `profile` makes ranges of its own.
      return verb == "profile" ? routed(verb, request) : in_range(verb, request);
    } catch (const Failure& failure) {
      return failed(failure);
    } catch (const std::exception& error) {
      return failed({Outcome::refused, "", error.what()});
    }
  }

  // For a tool that is attached: around a round as a whole, so that nothing is in what it times.
  json in_range(const std::string& verb, const json& request) {
    if (!trace::is_open()) return routed(verb, request);
    const std::string library = request.value("library", "");
    const trace::Range range(library.empty() ? verb : verb + " " + library,
                             trace::Category::worker);
    const auto found = prepared_.find(request.value("id", -1));
    if (found == prepared_.end() || verb == "drop") return routed(verb, request);
    const trace::Range cell(found->second->label(), trace::Category::cell, found->second->bytes());
    return routed(verb, request);
  }

  json routed(const std::string& verb, const json& request) {
    if (verb == "load") return {{"ok", load(request)}};
    if (verb == "floors") return {{"ok", floors()}};
    if (verb == "offers") return {{"ok", offers(request)}};
    if (verb == "copy_floors") return {{"ok", copy_floors(request)}};
    if (verb == "prepare") return {{"ok", prepare(request)}};
    if (verb == "round") return {{"ok", round(request)}};
    if (verb == "count") return {{"ok", count(request)}};
    if (verb == "split") return {{"ok", split(request)}};
    if (verb == "phases") return {{"ok", phases(request)}};
    if (verb == "judge") return {{"ok", judge(request)}};
    if (verb == "sync") return {{"ok", sync(request)}};
    if (verb == "trace") return {{"ok", begin_trace()}};
    if (verb == "profile") {
      return {{"ok", profile(at(request), request.at("times"), request.at("process"))}};
    }
    if (verb == "api_calls") return {{"ok", api_calls(at(request))}};
    if (verb == "drop") return {{"ok", drop(request)}};
    return failed({Outcome::refused, "", "the worker does not know '" + verb + "'"});
  }

  static json failed(const Failure& failure) {
    return {{"error",
             {{"outcome", to_string(failure.outcome)},
              {"exception", failure.exception},
              {"reason", failure.reason}}}};
  }

  json load(const json& request) {
    const double begin = seconds_now();
    const Loaded loaded =
        adapters_.load(request.at("role"), request.at("library"), request.at("path"));
    frozen_ = false;
    return {{"version", loaded.version},
            {"devices", loaded.devices},
            {"seconds", seconds_now() - begin}};
  }

  static json floors() {
    const Spent::Span counted(Spent::On::timing);
    const WorkerFloors floors = measure_floors();
    return {{"empty", floors.empty_ns},
            {"clock", floors.clock_ns},
            {"call", floors.call_ns},
            {"relay", floors.relay_ns}};
  }

  static json copy_floors(const json& request) {
    const Spent::Span counted(Spent::On::timing);
    if (request.contains("device")) {
      const std::string device = request["device"];
      const DeviceAt at = device_named(device);
      return at ? json(device_copy_floors(device, at)) : json::object();
    }
    const measure::CopyFloors floors = measure::copy_floors();
    return {{"warm", floors.warm_gb_per_s}, {"fresh", floors.fresh_gb_per_s}};
  }

  // What a library's arrays offer: only an array of its own can tell.
  json offers(const json& request) {
    Exchange exchange;
    exchange.producer = request.at("library");
    exchange.device = request.at("device");
    const Library& library = adapters_.at(exchange.producer, &Library::producer);
    const std::shared_ptr<const Pool> pool =
        arrays_.get(exchange, library, case_maker(request.at("case"), exchange.bytes));
    PyObject* array = pool->arrays.front().get();
    return {{"protocols", protocols_in(shown_by(array))},
            {"exports", exports_of(library)},
            {"dispatch", look_at_dispatch(array, library)}};
  }

  static Order order_of(const json& request) {
    Order order;
    const json& exchange = request.at("exchange");
    order.exchange = {exchange.at("environment"), exchange.at("producer"), exchange.at("consumer"),
                      exchange.at("protocol"),    exchange.at("device"),   exchange.at("case"),
                      exchange.at("bytes")};
    order.clocks = request.at("clocks").get<std::vector<std::string>>();
    order.round_ns = request.value("round_ns", order.round_ns);
    order.special = request.at("case").value("special", "");
    order.make_case = case_maker(request.at("case"), order.exchange.bytes);
    return order;
  }

  json prepare(const json& request) {
    const double begin = seconds_now();
    if (!std::exchange(frozen_, true)) stop_garbage_collector();
    const Order order = order_of(request);
    const int id = request.at("id");
    std::optional<trace::Range> stage;
    auto prepared = std::make_unique<Prepared>(
        order, adapters_.at(order.exchange.producer, &Library::producer),
        adapters_.at(order.exchange.consumer, &Library::consumer), arrays_, [&](const char* step) {
          say({{"step", step}});
          stage.emplace(step, trace::Category::worker, order.exchange.bytes);
        });
    stage.reset();
    json result = to_json(prepared->judgement());
    result["seen"] = to_json(prepared->seen());
    result["first_ns"] = prepared->first_ns();
    result["iterations"] = prepared->iterations();
    if (!prepared->without().empty()) result["without"] = prepared->without();
    result["floor"] = prepared->between() ? "relay" : "call";
    prepared_[id] = std::move(prepared);
    result["seconds"] = seconds_now() - begin;
    return result;
  }

  // functools.partial(Case, name=..., bytes=...): each call of it is a fresh array's description.
  static Ref case_maker(json description, std::uint64_t bytes) {
    description["bytes"] = bytes;
    const Ref module = checked(PyImport_ImportModule("dlbench.case"));
    const Ref type = checked(PyObject_GetAttrString(module.get(), "Case"));
    const Ref functools = checked(PyImport_ImportModule("functools"));
    const Ref partial = checked(PyObject_GetAttrString(functools.get(), "partial"));
    const Ref positional = checked(PyTuple_Pack(1, type.get()));
    return checked(PyObject_Call(partial.get(), positional.get(), python_from(description).get()));
  }

  json round(const json& request) {
    const Watch watch;
    const measure::Reading reading = at(request).round(
        request.at("clock"), request.at("iterations"), request.value("prelude", std::uint64_t{0}));
    const Disturbance disturbance = watch.end();
    return {{"ns", reading.ns},
            {"cpu_ns", reading.cpu_ns},
            {"moved", disturbance.moved},
            {"preempted", disturbance.preempted},
            {"canary_ns", disturbance.canary_ns}};
  }

  json count(const json& request) {
    if (request.value("phases", false)) {
      at(request).count_phases(request.at("iterations"),
                               request.value("prelude", std::uint64_t{0}));
      return {{"frames", json::array()}, {"most", at(request).most_iterations()}};
    }
    std::vector<FrameNode> names;
    at(request).count(request.at("clock"), request.at("iterations"),
                      request.value("prelude", std::uint64_t{0}),
                      request.value("names", false) ? &names : nullptr);
    json frames = json::array();
    for (const FrameNode& node : names) {
      frames.push_back({{"parent", node.parent}, {"function", node.function}, {"file", node.file}});
    }
    return {{"frames", frames}, {"most", at(request).most_iterations()}};
  }

  json judge(const json& request) {
    return to_json(at(request).judge_again([this](const char* step) { say({{"step", step}}); }));
  }

  // Takes what `prepare` took, since the arrays that are busy are others.
  json sync(const json& request) {
    const WhoWaits found = at(request).who_waits(order_of(request), [this](const char* step) {
      say({{"step", step}});
    });
    return to_json(found);
  }

  // What the phases of an exchange are made of, before their rounds.
  json split(const json& request) {
    const Phases& split = at(request).prepare_phases([this](const char* step) {
      say({{"step", step}});
    });
    json calls = json::array();
    for (const Asked& asked : split.tape()) {
      calls.push_back(
          {{"phase", asked.phase()}, {"call", asked.spelled}, {"raised", asked.raised}});
    }
    return {{"via", split.way()},
            {"iterations", at(request).calibrated()},
            {"calls", calls},
            {"warnings", split.warnings()}};
  }

  json phases(const json& request) {
    const PhaseReading reading = at(request).phases_round(
        request.at("iterations"), request.value("prelude", std::uint64_t{0}),
        request.value("seed", std::uint64_t{0}));
    return {{"exchange", reading.exchange_ns},       {"calls", reading.calls_ns},
            {"import", reading.import_ns},           {"release", reading.release_ns},
            {"unexplained", reading.unexplained_ns}, {"floor", reading.floor_ns}};
  }

  json drop(const json& request) {
    prepared_.erase(request.at("id").get<int>());
    arrays_.drop_unused();
    return json::object();
  }

  Prepared& at(const json& request) {
    const auto found = prepared_.find(request.at("id").get<int>());
    if (found == prepared_.end()) {
      throw Failure{Outcome::refused, "", "nothing is prepared under " + request.at("id").dump()};
    }
    return *found->second;
  }

  Lines& lines_;
  Adapters adapters_;
  Arrays arrays_;
  std::map<int, std::unique_ptr<Prepared>> prepared_;
  bool frozen_ = false;
};

}  // namespace

void serve(int in, int out) {
  Lines lines(in, out);
  Server(lines).run();
}

}  // namespace dlbench::worker

#include "worker/requests.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "measure/copy_floors.hpp"
#include "model/places.hpp"
#include "worker/answers.hpp"
#include "worker/base/garbage.hpp"
#include "worker/base/spent.hpp"
#include "worker/exchange/captured_exchange.hpp"
#include "worker/exchange/synchronization.hpp"
#include "worker/library/dispatch.hpp"
#include "worker/profiling.hpp"
#include "worker/timing/device_floors.hpp"
#include "worker/timing/floors.hpp"
#include "worker/timing/watch.hpp"

namespace dlbench::worker {

using nlohmann::json;

namespace {

double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

std::uint64_t prelude_of(const json& request) {
  return request.value("prelude", std::uint64_t{0});
}

}  // namespace

const std::map<std::string, Requests::Verb>& Requests::verbs() {
  static const std::map<std::string, Verb> all{
      {"load", &Requests::load},
      {"floors", &Requests::floors},
      {"copy_floors", &Requests::copy_floors},
      {"device_memory", &Requests::device_memory},
      {"offers", &Requests::offers},
      {"prepare", &Requests::prepare},
      {"round", &Requests::round},
      {"count", &Requests::count},
      {"split", &Requests::split},
      {"phases", &Requests::phases},
      {"judge", &Requests::judge},
      {"sync", &Requests::sync},
      {"capture", &Requests::capture},
      {"sync_trial", &Requests::sync_trial},
      {"late_free", &Requests::late_free},
      {"trace", &Requests::trace},
      {"profile", &Requests::profile},
      {"api_calls", &Requests::api_calls},
      {"drop", &Requests::drop},
  };
  return all;
}

json Requests::answer(const std::string& verb, const json& request) {
  const auto found = verbs().find(verb);
  if (found == verbs().end()) {
    throw Failure{Outcome::refused, "", "unknown request '" + verb + "'"};
  }
  // Make the device of the exchange current, because some libraries export only from the current
  // device. Other exchanges of this worker do not see the state that its call needs.
  Prepared* const prepared = find(request);
  const DeviceAt source = prepared != nullptr ? prepared->call.source() : DeviceAt{};
  try {
    const InDevice inside(source);
    const Within state(prepared != nullptr ? prepared->call.import_call().within() : Ref());
    return (this->*found->second)(request);
  } catch (Failure& failure) {
    const std::string requested =
        verb == "prepare" ? source_of(order_of(request).exchange) : std::string();
    explain_if_lost(failure,
                    source ? std::string(source.table->name) + ":" + std::to_string(source.ordinal)
                           : requested);
    throw;
  }
}

void Requests::explain_if_lost(Failure& failure, const std::string& device) const {
  if (!usable_.contains(device)) return;
  const DeviceAt at = device_named(device);
  device::Code code = 0;
  Py_BEGIN_ALLOW_THREADS;
  const device::Entered inside(*at.table, at.ordinal);
  code = inside.code() != 0 ? inside.code() : at.table->synchronize();
  Py_END_ALLOW_THREADS;
  // After an error of a kernel (700 to 720) only the process cannot use the device. A capture
  // forbids to wait (900 to 908).
  constexpr device::Code kOutOfMemory = 2, kKernels = 700, kAfterCaptures = 910;
  if (code == 0 || code == kOutOfMemory || (code >= kKernels && code < kAfterCaptures)) return;
  failure = Failure{Outcome::no_device,
                    "",
                    device + " was lost in the middle of the run: " + at.table->error_name(code) +
                        " (" + std::to_string(code) + ")",
                    "",
                    {{"lost", device}}};
}

Prepared* Requests::find(const json& request) const {
  const auto found = prepared_.find(request.value("id", -1));
  return found == prepared_.end() ? nullptr : found->second.get();
}

json Requests::load(const json& request) {
  const Loaded loaded =
      adapters_.load(request.at("role"), request.at("library"), request.at("path"));
  frozen_ = false;
  return {{"version", loaded.version},
          {"devices", loaded.devices},
          {"effects", loaded.effects},
          {"runtimes", loaded.runtimes},
          {"seconds", loaded.seconds}};
}

json Requests::floors(const json&) {
  const Spent::Span counted(Spent::On::timing);
  return to_json(measure_floors());
}

json Requests::copy_floors(const json& request) {
  const Spent::Span counted(Spent::On::timing);
  const auto sizes = request.value("bytes", std::vector<std::uint64_t>());
  if (request.contains("device")) {
    const std::string device = request["device"];
    const DeviceAt at = device_named(device);
    if (!at) return json::object();
    const DeviceCopyFloors floors = device_copy_floors(device, at, sizes);
    json answer{{"gb_per_s", floors.gb_per_s}, {"bytes", floors.bytes}};
    if (!floors.host_waits.empty()) answer["host_waits"] = floors.host_waits;
    return answer;
  }
  const measure::CopyFloors floors = measure::copy_floors();
  json rates{{"warm", floors.warm_gb_per_s}, {"fresh", floors.fresh_gb_per_s}};
  for (const std::uint64_t bytes : sizes) {
    const measure::CopyFloors of_size = measure::copy_floors(bytes);
    rates["warm " + std::to_string(bytes)] = of_size.warm_gb_per_s;
    rates["fresh " + std::to_string(bytes)] = of_size.fresh_gb_per_s;
  }
  return rates;
}

// Bytes of a device's memory, read in this worker's context.
json Requests::device_memory(const json& request) {
  const DeviceAt at = device_named(request.at("device"));
  if (!at) return json::object();
  const InDevice inside(at);
  settle(at);
  std::size_t free = 0, total = 0;
  require(*at.table, "memory", at.table->memory_info(&free, &total));
  return {{"free", free}, {"total", total}};
}

// The protocols that a library's arrays offer, read from an array; those that it imports, and its
// devices here.
json Requests::offers(const json& request) {
  Exchange exchange;
  exchange.producer = request.at("library");
  exchange.device = request.at("device");
  const Library& library = adapters_.at(exchange.producer, &Library::producer);
  const InDevice inside(device_named(source_of(exchange)));
  const std::shared_ptr<const Pool> pool =
      arrays_.get(exchange, library, case_maker(request.at("case"), exchange.bytes));
  PyObject* array = pool->arrays.front().get();
  return {{"protocols", protocols_in(shown_by(array))},
          {"exports", exports_of(library)},
          {"imports", imports_of(library)},
          {"devices", library.devices.empty() ? std::vector<std::string>{"cpu"} : library.devices},
          {"dispatch", describe_dispatch(array, library)}};
}

json Requests::prepare(const json& request) {
  const double begin = seconds_now();
  if (!std::exchange(frozen_, true)) {
    stop_garbage_collector();
  } else if (prepared_.empty()) {
    freeze_survivors();
  }
  const Order order = order_of(request);
  const int id = request.at("id");
  require_context(source_of(order.exchange));
  if (device_named(source_of(order.exchange))) usable_.insert(source_of(order.exchange));
  const InDevice inside(device_named(source_of(order.exchange)));
  std::optional<trace::Range> stage;
  auto prepared = std::make_unique<Prepared>(
      order, adapters_.at(order.exchange.producer, &Library::producer),
      adapters_.at(order.exchange.consumer, &Library::consumer), arrays_, [&](Step step) {
        step_(step);
        stage.emplace(std::string(to_string(step)), trace::Category::worker, order.exchange.bytes);
      });
  stage.reset();
  json result = to_json(prepared->judge.judgement());
  result["observed"] = to_json(prepared->protocol.observed().observation);
  result["first_ns"] = prepared->call.first_ns();
  result["iterations"] = prepared->blocks.iterations();
  if (!prepared->blocks.without().empty()) result["without"] = prepared->blocks.without();
  if (const auto step_ns = prepared->blocks.device_step_ns()) result["device_step_ns"] = *step_ns;
  result["floor"] = prepared->protocol.observed().has_proxy() ? "proxy" : "call";
  prepared_[id] = std::move(prepared);
  result["seconds"] = seconds_now() - begin;
  return result;
}

json Requests::round(const json& request) {
  const Watch watch;
  const measure::Reading reading =
      at(request).blocks.round(request.at("clock"), request.at("iterations"), prelude_of(request));
  return to_json(reading, watch.end());
}

json Requests::count(const json& request) {
  Prepared& prepared = at(request);
  std::vector<FrameNode> frames;
  if (request.value("phases", false)) {
    prepared.phases.count(request.at("iterations"), prelude_of(request));
  } else {
    prepared.blocks.count(request.at("clock"), request.at("iterations"), prelude_of(request),
                          request.value("names", false) ? &frames : nullptr);
  }
  return {{"frames", to_json(frames)}, {"most", prepared.call.most_iterations()}};
}

json Requests::judge(const json& request) {
  Prepared& prepared = at(request);
  json result =
      to_json(prepared.judge.judge_again(prepared.protocol.observed(), prepared.blocks, step_));
  if (!prepared.judge.requests().empty()) {
    const std::string used = prepared.protocol.observed().observation.used;
    prepared.protocol.set_computed(used, prepared.judge.requests());
    result["observed"] = to_json(prepared.protocol.observed().observation);
  }
  return result;
}

// Plans the trials. Gets the same request as `prepare`, because it makes its own arrays.
json Requests::sync(const json& request) {
  Prepared& prepared = at(request);
  const Synchronization& planned =
      prepared.synchronization.emplace(prepared.call, prepared.protocol, order_of(request), step_);
  json trials = json::array();
  for (const SyncTrial& trial : planned.trials()) trials.push_back(to_json(trial));
  return {{"trials", std::move(trials)}, {"has_late_free", planned.has_late_free()}};
}

json Requests::sync_trial(const json& request) {
  Synchronization& planned = at(request).synchronization.value();
  return to_json(planned.classify(request.at("trial")));
}

json Requests::late_free(const json& request) {
  return {{"late_free", at(request).synchronization.value().late_free()}};
}

// The same for one exchange during a capture of the consumer's stream.
json Requests::capture(const json& request) {
  Prepared& prepared = at(request);
  const CaptureOrder wanted{request.at("requested_by") == "consumer", request.at("stream"),
                            request.at("producer_stream") == "same"};
  return to_json(
      capture_exchange(prepared.call, prepared.protocol, order_of(request), wanted, step_));
}

// Prepares the phases of an exchange and returns their parts.
json Requests::split(const json& request) {
  Prepared& prepared = at(request);
  step_(Step::phases);
  prepared.phases.prepare();
  return {{"via", prepared.phases.way()},
          {"iterations", prepared.blocks.calibrated()},
          {"calls", to_json(prepared.phases.recording())},
          {"warnings", prepared.phases.warnings()}};
}

json Requests::phases(const json& request) {
  const Watch watch;
  const PhaseReading reading = at(request).phases.round(
      request.at("iterations"), prelude_of(request), request.value("seed", std::uint64_t{0}));
  return to_json(reading, watch.end());
}

json Requests::trace(const json&) {
  return begin_trace();
}

json Requests::profile(const json& request) {
  return worker::profile(at(request), request.at("times"), request.at("process"));
}

json Requests::api_calls(const json& request) {
  const Order order = order_of(request);
  return worker::api_calls(at(request), order,
                           adapters_.at(order.exchange.producer, &Library::producer));
}

json Requests::drop(const json& request) {
  prepared_.erase(request.at("id").get<int>());
  arrays_.drop_unused();
  return json::object();
}

Prepared& Requests::at(const json& request) {
  const auto found = prepared_.find(request.at("id").get<int>());
  if (found == prepared_.end()) {
    throw Failure{Outcome::refused, "",
                  "no exchange is prepared with the id " + request.at("id").dump()};
  }
  return *found->second;
}

}  // namespace dlbench::worker

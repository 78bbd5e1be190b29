#include "worker/exchange/exchange_call.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/codes.hpp"
#include "model/contains.hpp"
#include "model/places.hpp"
#include "worker/base/spent.hpp"
#include "worker/base/warning_capture.hpp"
#include "worker/library/exchange_api.hpp"

namespace dlbench::worker {
namespace {

// Without a wait the copies of an asynchronous consumer accumulate: 7 GB were observed.
std::uint64_t most_in_flight(std::uint64_t bytes) {
  constexpr std::uint64_t kMostBytes = 256ULL << 20;
  return std::max<std::uint64_t>(1, kMostBytes / std::max<std::uint64_t>(1, bytes));
}

constexpr std::uint64_t kMostIterations = 10'000'000;

// A driver's queue holds some thousand launches. Beyond that the host waits for a kernel's end.
constexpr std::uint64_t kMostLaunches = 512;

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

}  // namespace

ExchangeCall::ExchangeCall(const Order& order, const Library& producer, const Library& consumer,
                           Arrays& arrays, const Announce& step)
    : producer_(producer),
      consumer_(consumer),
      call_(call_of(consumer, order.exchange)),
      source_(device_named(source_of(order.exchange))),
      import_call_(call_.name == Protocol::call
                       ? ImportCall(call_.spelled.get(), order.exchange.arrays)
                       : ImportCall(call_.spelled.get())),
      ready_(ready_of(consumer, order.exchange, stream_failure_)),
      most_iterations_(call_.name == Protocol::call && source_ ? kMostLaunches
                       : ready_ ? most_in_flight(order.exchange.bytes)
                                : kMostIterations) {
  const bool waits = contains(order.clocks, Clock::ready);
  if (waits && !ready_) {
    throw Failure{Outcome::import_failed, "",
                  "the adapter of " + order.exchange.consumer + " defines no `ready`"};
  }
  step(Step::make);
  pool_ = arrays.get(order.exchange, producer, order.make_case);
}

void ExchangeCall::pass_exporters(const std::string& requested) {
  PyObject* x = first_array();
  if (!offers(shown_by(x), requested)) {
    export_ = export_for(producer_, requested);
    const std::string type = Py_TYPE(x)->tp_name;
    const std::string flaw =
        requested == Protocol::dlpack_c ? flaw_of_exchange_api(Py_TYPE(x)) : "";
    if (!export_ && !flaw.empty()) {
      throw Failure{Outcome::refused, "", "the C exchange API of a " + type + ": " + flaw};
    }
    if (!export_) {
      throw Failure{Outcome::no_protocol, "", "a " + type + " offers no " + requested,
                    std::string(codes::kNotExported)};
    }
    for (const Ref& array : pool_->arrays) {
      exported_.push_back(make_exported(array.get(), export_));
    }
  }
  set_inputs(exporters());
  shown_ = shown_by(first_exporter());
}

void ExchangeCall::pass_proxies(Shown shown) {
  shown_ = shown;
  is_proxied_ = true;
  std::vector<Ref> proxies;
  for (const Ref& array : pool_->arrays) proxies.push_back(object_for(array));
  set_inputs(std::move(proxies));
}

void ExchangeCall::pass_rows(std::size_t arrays) {
  std::vector<std::vector<PyObject*>> sets;
  std::vector<Ref> rows;
  const std::size_t of_set = std::max<std::size_t>(1, arrays);
  for (std::size_t first = 0; first < pool_->arrays.size(); first += of_set) {
    std::vector<PyObject*>& set = sets.emplace_back();
    for (std::size_t i = 0; i < arrays; ++i) set.push_back(pool_->arrays[first + i].get());
    rows.push_back(import_call_.row(set));
  }
  set_inputs(std::move(rows));
  proof_.emplace(sets, producer_, *pool_);
}

Ref ExchangeCall::object_for(const Ref& array) const {
  if (export_) return make_exported(array.get(), export_);
  return is_proxied_ ? make_proxy(array.get(), shown_) : array;
}

void ExchangeCall::set_inputs(std::vector<Ref> objects) {
  inputs_ = std::move(objects);
  borrowed_.clear();
  for (const Ref& object : inputs_) borrowed_.push_back(object.get());
}

Ref ExchangeCall::import(PyObject* x) {
  const Spent::Span counted(Spent::On::library);
  return checked(import_call_(x));
}

void ExchangeCall::wait_for(PyObject* result) {
  const Spent::Span counted(Spent::On::library);
  if (ready_) checked(PyObject_CallOneArg(ready_.get(), result));
}

Ref ExchangeCall::import_and_wait(PyObject* x) {
  Ref result = import(x);
  wait_for(result.get());
  return result;
}

Ref ExchangeCall::import_first(const Announce& step) {
  step(Step::call);
  try {
    return import_with_warnings(borrowed_[0], python_warnings_, [&] { step(Step::ready); });
  } catch (const Failure& failure) {
    // dlbench's exporter raised, not a library.
    if (failure.outcome != Outcome::refused || !refused_itself(borrowed_[0])) throw;
    throw Failure{
        Outcome::no_protocol, "",
        "the consumer passes an argument that the producer's method rejects: " + failure.reason};
  }
}

Recorded ExchangeCall::import_recorded(Shown shown, Recorder& recorder, Warnings& warnings) {
  try {
    const RecordingProxy proxy(first_exporter(), shown, recorder);
    return {import_with_warnings(proxy.get(), warnings, [] {}), {}};
  } catch (const Failure& failure) {
    return {{}, failure};
  }
}

// Keeps the time of the first call of an exchange, which includes one-time costs.
Ref ExchangeCall::import_with_warnings(PyObject* x, Warnings& warnings,
                                       const std::function<void()>& called) {
  double call_ns = 0;
  Ref result = [&] {
    const WarningCapture noted;
    const double begin = now_ns();
    Ref imported = import(x);
    call_ns = now_ns() - begin;
    warn(warnings, noted.warnings());
    return imported;
  }();
  called();
  const double wait_begin = now_ns();
  wait_for(result.get());
  if (first_ns_.empty()) {
    first_ns_["call"] = call_ns;
    first_ns_["ready"] = call_ns + now_ns() - wait_begin;
  }
  return result;
}

}  // namespace dlbench::worker

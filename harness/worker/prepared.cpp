#include "worker/prepared.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "model/names.hpp"
#include "model/places.hpp"
#include "worker/counted.hpp"
#include "worker/garbage.hpp"
#include "worker/noted.hpp"
#include "worker/spent.hpp"

namespace dlbench::worker {
namespace {

// An asynchronous consumer that is not waited for piles its copies up: 7 GB were seen.
constexpr std::uint64_t kMostBytesInFlight = 256ULL << 20;
constexpr std::uint64_t kMostIterations = 10'000'000;

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

// What `calls(source, target)` says goes before PROTOCOLS, and between two devices counts alone.
Ref protocols_of(const Library& consumer, const Exchange& exchange) {
  Ref protocols = checked(PyObject_GetAttrString(consumer.consumer.get(), "PROTOCOLS"));
  if (!PyDict_Check(protocols.get())) protocols = checked(PyDict_New());
  const Ref calls = optional_attribute(consumer.consumer.get(), "calls");
  if (!calls || exchange.device == "cpu") return protocols;
  // What is not there has the backend's words, not those of a call that wants it.
  device_named(source_of(exchange));
  device_named(target_of(exchange));
  Ref here = checked(PyObject_CallFunction(calls.get(), "ss", source_of(exchange).c_str(),
                                           target_of(exchange).c_str()));
  if (!PyDict_Check(here.get())) {
    throw Failure{Outcome::import_failed, "", exchange.consumer + "'s `calls` returned no dict"};
  }
  if (crosses_devices(exchange)) return here;
  const Ref both = checked(PyDict_Copy(protocols.get()));
  if (PyDict_Update(both.get(), here.get()) != 0) throw fetch_failure();
  return Ref::borrow(both.get());
}

std::string name_of_call(PyObject* protocols, const Exchange& exchange) {
  std::vector<std::string> offered;
  for (const std::string_view protocol : kProtocols) {
    std::string name(protocol);
    if (PyDict_GetItemString(protocols, name.c_str()) != nullptr) {
      offered.push_back(std::move(name));
    }
  }
  std::string call(call_for(exchange.protocol, offered));
  if (!call.empty()) return call;
  throw Failure{Outcome::no_protocol, "",
                exchange.consumer + " has no call for " + exchange.protocol};
}

// The library's own wait where it has one, else for its device.
Ref ready_of(const Library& consumer, const Exchange& exchange) {
  if (Ref ready = consumer.function("ready")) return ready;
  const DeviceAt at = device_named(target_of(exchange));
  if (!at) return {};
  const Ref stream = asked_for_device(consumer, "stream", target_of(exchange));
  return wait_on_device(at, stream.get());
}

// May a number be filed under `requested`, after what the tap saw?
bool fits(const std::string& requested, const Tap& tap) {
  if (requested == "convert" || requested == tap.used()) return true;
  if (tap.used() != "dlpack") return false;
  return (requested == "dlpack_legacy" && tap.facts().struct_name == "legacy") ||
         (requested == "dlpack_versioned" && tap.facts().struct_name == "versioned");
}

void warm_up(measure::Body body, std::uint64_t calls) {
  const Spent::Span counted(Spent::On::library);
  if (body.run(body.self, calls) != calls) throw fetch_failure();
}

Seen seen_through(const Tap& tap, const char* via) {
  const CapsuleFacts& facts = tap.facts();
  return {tap.used().empty() ? "own" : tap.used(),
          via,
          tap.calls(),
          facts.struct_name,
          facts.version,
          facts.flags,
          {}};
}

}  // namespace

Prepared::Prepared(const Order& order, const Library& producer, const Library& consumer,
                   Arrays& arrays, const Step& step)
    : label_(name(Cell{order.exchange, "exchange", "call"})),
      bytes_(order.exchange.bytes),
      producer_(producer),
      consumer_(consumer),
      protocols_(protocols_of(consumer, order.exchange)),
      call_(name_of_call(protocols_.get(), order.exchange)),
      crossing_(PyDict_GetItemString(protocols_.get(), call_.c_str())),
      ready_(ready_of(consumer, order.exchange)),
      most_iterations_(
          ready_ ? std::max<std::uint64_t>(
                       1, kMostBytesInFlight / std::max<std::uint64_t>(1, order.exchange.bytes))
                 : kMostIterations),
      // What a driver reads by itself no page fault shows, and it may take one amiss.
      guardable_(order.special != "pinned" && order.special != "managed" &&
                 !device_named(target_of(order.exchange))) {
  const bool waits = std::count(order.clocks.begin(), order.clocks.end(), "ready") > 0;
  if (waits && !ready_) {
    throw Failure{Outcome::import_failed, "",
                  order.exchange.consumer + " has no `ready` in this worker"};
  }
  step("make");
  pool_ = arrays.get(order.exchange, producer, order.make_case);
  if (is_dispatch(order.exchange.protocol)) {
    dispatch(order, step);
    return;
  }
  require_offer(order.exchange.protocol);
  show(asked());
  shown_mask_ = shown_by(first_asked());
  if (is_converted(order.exchange.protocol)) {
    step("tap");
    go_through_relay(order.exchange.protocol, "");
  }

  Ref result = cross_first(step);

  step("values");
  judgement_ = look_at_both_ends(*pool_, producer_, result.get(), consumer_);
  step("lifetime");
  check_lifetime(result);
  const bool was_found = between();
  if (!was_found) {
    step("tap");
    find_protocol(order.exchange.protocol, result.get() == first_asked());
  }
  if (relayed() && !was_found) {
    const Ref relayed_result = cross_first(step);
    judgement_ = look_at_both_ends(*pool_, producer_, relayed_result.get(), consumer_);
  }
  conclude(judgement_);
  add_warnings();
  step("outlive");
  look_after_dropping(order);
  step("calibrate");
  calibrate(order);
}

// The first call on the way that will be timed.
Ref Prepared::cross_first(const Step& step) {
  step("call");
  const Noted noted;
  const double begin = now_ns();
  Ref result = cross_once(given_[0]);
  const double called = now_ns() - begin;
  noted_ = noted.texts();
  step("ready");
  const double wait_begin = now_ns();
  wait_for(result.get());
  first_ns_["call"] = called;
  first_ns_["ready"] = called + now_ns() - wait_begin;
  return result;
}

Ref Prepared::cross_once(PyObject* x) {
  const Spent::Span counted(Spent::On::library);
  return checked(crossing_(x));
}

void Prepared::wait_for(PyObject* result) {
  const Spent::Span counted(Spent::On::library);
  if (ready_) checked(PyObject_CallOneArg(ready_.get(), result));
}

void Prepared::show(std::vector<Ref> objects) {
  shown_ = std::move(objects);
  given_.clear();
  for (const Ref& object : shown_) given_.push_back(object.get());
}

void Prepared::require_offer(const std::string& requested) {
  PyObject* x = first_array();
  if (offers(shown_by(x), requested)) return;
  export_ = export_for(producer_, requested);
  if (export_) {
    for (const Ref& array : pool_->arrays) {
      exported_.push_back(make_exported(array.get(), export_));
    }
    return;
  }
  throw Failure{Outcome::no_protocol, "",
                std::string("a ") + Py_TYPE(x)->tp_name + " offers no " + requested};
}

// Crosses once more through a tapped relay that shows all that the producer has. A consumer that
// looks at the exact type asks the relay nothing: then only `convert` may be filed directly, since
// it promises no protocol.
void Prepared::find_protocol(const std::string& requested, bool same_object) {
  PyObject* x = first_asked();
  if (same_object) {
    seen_.used = "own";
    if (requested != "convert") go_through_relay(requested, "the very object that it was given");
    return;
  }
  if (crossing_.takes_capsule()) {
    const Ref capsule = checked(PyObject_CallMethod(x, "__dlpack__", nullptr));
    const CapsuleFacts facts = facts_of_capsule(capsule.get());
    if (requested.starts_with("dlpack_") && requested != "dlpack_" + facts.struct_name) {
      throw Failure{Outcome::no_protocol, "",
                    "it is handed a capsule, which is " + facts.struct_name + " unless asked for"};
    }
    seen_ = {"dlpack", way(), {"__dlpack__()"}, facts.struct_name, facts.version, facts.flags, {}};
    static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
    tape_ = {asked_method(name, nullptr, 0, nullptr)};
    return;
  }
  Tap tap;
  const std::optional<Failure> refusal = cross_tapped(shown_mask_, tap);
  if (requested == "convert") {
    // A general call may know the type itself, and take what has none by another way.
    seen_.used = "own";
    if (!refusal) note(tap, "tap");
  } else if (fits(requested, tap)) {
    note(tap, way());
  } else {
    go_through_relay(requested, tap.used());
  }
}

void Prepared::note(const Tap& tap, const char* via) {
  seen_ = seen_through(tap, via);
  tape_ = tap.tape();
  torn_ = tap.is_torn();
}

void Prepared::go_through_relay(const std::string& requested, const std::string& direct) {
  Tap tap;
  const std::optional<Failure> refusal = cross_tapped(shown_for(requested), tap);
  // What was asked for it, and then something was wrong with it, takes that protocol.
  if (refusal && (fits(requested, tap) || tap.producer_failed())) throw Failure(*refusal);
  if (refusal || !fits(requested, tap)) {
    const std::string taken = direct.empty() ? "a path of its own" : direct;
    throw Failure{Outcome::no_protocol, "",
                  "the consumer took " + taken + ", not " + requested +
                      (refusal ? "; shown that alone it says: " + refusal->reason : "")};
  }
  note(tap, exported_.empty() ? "relay" : way());
  if (!relayed()) return;  // what EXPORTS make shows nothing else
  shown_mask_ = shown_for(requested);
  std::vector<Ref> relays;
  for (const Ref& array : pool_->arrays) relays.push_back(stand_for(array, requested));
  show(std::move(relays));
}

// What the consumer is given of an array of this exchange, on the way that is timed.
Ref Prepared::stand_for(const Ref& array, const std::string& requested) const {
  if (export_) return make_exported(array.get(), export_);
  return relayed() ? make_relay(array.get(), shown_for(requested)) : array;
}

// Returns what the consumer raised, or nothing.
std::optional<Failure> Prepared::cross_tapped(Shown shown, Tap& tap) {
  try {
    const TappedRelay relay(first_asked(), shown, tap);
    wait_for(cross_once(relay.get()).get());
    return {};
  } catch (const Failure& failure) {
    return failure;
  }
}

Block Prepared::block(const std::string& clock) {
  return {crossing_, given_, next_, clock == "ready" ? ready_.get() : nullptr};
}

// With an asynchronous consumer both clocks take the iterations that fill a block of `ready`: a
// block of bare calls would run ahead of the work it starts.
void Prepared::calibrate(const Order& order) {
  Block timed = block("ready");
  const Spent::Span counted(Spent::On::timing);
  const std::uint64_t iterations =
      measure::calibrate(timed.body(), order.round_ns, most_iterations_);
  if (iterations == 0) throw fetch_failure();
  calibrated_ = iterations;
  for (const std::string& clock : order.clocks) {
    if (clock != "device") iterations_[clock] = iterations;
  }
  if (std::count(order.clocks.begin(), order.clocks.end(), "device") > 0) {
    prepare_device_clock(order);
  }
}

// Waits for what a block of bare calls left behind.
void Prepared::drain() {
  if (ready_) wait_for(cross_once(given_[next_]).get());
}

measure::Reading Prepared::round(const std::string& clock, std::uint64_t iterations,
                                 std::uint64_t prelude) {
  Block timed = block(clock);
  const measure::Body body = timed.body();
  warm_up(body, prelude);
  drain();
  if (clock == "device") return device_round(body, iterations);
  const measure::Reading reading = [&] {
    const Spent::Span counted(Spent::On::timing);
    return measure::round(body, std::min(iterations, most_iterations_));
  }();
  if (!reading.valid) throw fetch_failure();
  drain();
  collect_garbage();
  return reading;
}

void Prepared::count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
                     std::vector<FrameNode>* names) {
  std::optional<Frames> frames;
  if (names != nullptr) frames.emplace();
  Block one = block(clock);
  // The same arrays in the same order, whatever was called before.
  next_ = 0;
  warm_up(one.body(), prelude);
  drain();
  next_ = 0;
  if (!counted(one.body(), std::min(iterations, most_iterations_))) throw fetch_failure();
  drain();
  if (names != nullptr) *names = Frames::seen();
  collect_garbage();
}

}  // namespace dlbench::worker

#include "worker/prepared.hpp"

#include <algorithm>
#include <chrono>

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

Ref protocol_call(const Library& consumer, const Exchange& exchange) {
  const Ref protocols = checked(PyObject_GetAttrString(consumer.consumer.get(), "PROTOCOLS"));
  PyObject* spelled = PyDict_Check(protocols.get())
                          ? PyDict_GetItemString(protocols.get(), exchange.protocol.c_str())
                          : nullptr;
  if (spelled == nullptr) {
    throw Failure{Outcome::no_protocol, "",
                  exchange.consumer + " has no call for " + exchange.protocol};
  }
  return Ref::borrow(spelled);
}

bool is_dlpack(const std::string& protocol) {
  return protocol == "dlpack" || protocol == "dlpack_legacy" || protocol == "dlpack_versioned";
}

// Is a number seen under `used` one that may be filed under `requested`?
bool fits(const std::string& requested, const std::string& used) {
  return requested == "convert" || requested == used || (is_dlpack(requested) && is_dlpack(used));
}

void warm_up(measure::Body body, std::uint64_t calls) {
  const Spent::Span counted(Spent::On::library);
  for (std::uint64_t i = 0; i < calls; ++i) {
    if (!body.call(body.self)) throw fetch_failure();
  }
}

Seen seen_through(const Tap& tap, const char* via) {
  const CapsuleFacts& facts = tap.facts();
  return {tap.used().empty() ? "own" : tap.used(),
          via,
          tap.calls(),
          facts.struct_name,
          facts.version,
          facts.flags};
}

}  // namespace

Prepared::Prepared(const Order& order, const Library& producer, const Library& consumer,
                   Arrays& arrays, const Step& step)
    : producer_(producer),
      consumer_(consumer),
      crossing_(protocol_call(consumer, order.exchange).get()),
      ready_(consumer.function("ready")),
      most_iterations_(ready_
                           ? std::max<std::uint64_t>(1, kMostBytesInFlight / order.exchange.bytes)
                           : kMostIterations) {
  step("make");
  pool_ = arrays.get(order.exchange, producer, order.make_case);
  show(pool_->arrays);
  require_offer(order.exchange.protocol);

  step("call");
  const double begin = now_ns();
  Ref result = cross_once(given_[0]);
  first_ns_["call"] = now_ns() - begin;
  step("ready");
  wait_for(result.get());
  first_ns_["ready"] = now_ns() - begin;

  step("values");
  judgement_ = judge(*pool_, producer_, result.get(), consumer_);
  step("tap");
  find_protocol(order.exchange.protocol, result.get() == first_array());
  if (relayed()) judge_again();
  step("calibrate");
  calibrate(order);
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

void Prepared::require_offer(const std::string& requested) const {
  PyObject* x = first_array();
  const Shown wanted = shown_for(requested);
  if ((shown_by(x) & wanted) == wanted) return;
  throw Failure{Outcome::no_protocol, "",
                std::string("a ") + Py_TYPE(x)->tp_name + " offers no " + requested};
}

// Crosses once more through a tapped relay that shows all that the producer has. A consumer that
// looks at the exact type asks the relay nothing: then only `convert` may be filed directly, since
// it promises no protocol.
void Prepared::find_protocol(const std::string& requested, bool same_object) {
  PyObject* x = first_array();
  if (same_object) {
    if (requested != "convert") {
      throw Failure{Outcome::no_protocol, "", "the consumer returned the very object it was given"};
    }
    seen_.used = "own";
    return;
  }
  if (crossing_.takes_capsule()) {
    const Ref capsule = checked(PyObject_CallMethod(x, "__dlpack__", nullptr));
    const CapsuleFacts facts = facts_of_capsule(capsule.get());
    seen_ = {"dlpack", "direct", {"__dlpack__()"}, facts.struct_name, facts.version, facts.flags};
    return;
  }
  Tap tap;
  cross_tapped(shown_by(x), tap);
  if (fits(requested, tap.used())) {
    seen_ = seen_through(tap, "direct");
  } else {
    go_through_relay(requested, tap.used());
  }
}

void Prepared::go_through_relay(const std::string& requested, const std::string& direct) {
  Tap tap;
  const std::string refusal = cross_tapped(shown_for(requested), tap);
  if (!refusal.empty() || !fits(requested, tap.used())) {
    const std::string taken = direct.empty() ? "a path of its own" : direct;
    throw Failure{Outcome::no_protocol, "",
                  "the consumer took " + taken + ", not " + requested +
                      (refusal.empty() ? "" : "; shown that alone it says: " + refusal)};
  }
  seen_ = seen_through(tap, "relay");
  std::vector<Ref> relays;
  for (const Ref& array : pool_->arrays) {
    relays.push_back(make_relay(array.get(), shown_for(requested), nullptr));
  }
  show(std::move(relays));
}

// Returns what the consumer raised, or nothing.
std::string Prepared::cross_tapped(Shown shown, Tap& tap) {
  try {
    const Ref relay = make_relay(first_array(), shown, &tap);
    wait_for(cross_once(relay.get()).get());
    return {};
  } catch (const Failure& failure) {
    return failure.reason;
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
  for (const std::string& clock : order.clocks) iterations_[clock] = iterations;
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
  const measure::Reading reading = [&] {
    const Spent::Span counted(Spent::On::timing);
    return measure::round(body, std::min(iterations, most_iterations_));
  }();
  if (!reading.valid) throw fetch_failure();
  drain();
  PyGC_Collect();
  return reading;
}

Judgement Prepared::judge_again() {
  const Ref result = cross_once(given_[0]);
  wait_for(result.get());
  judgement_ = judge(*pool_, producer_, result.get(), consumer_);
  return judgement_;
}

}  // namespace dlbench::worker

#include "worker/prepared.hpp"

#include <algorithm>
#include <chrono>

#include "model/names.hpp"
#include "model/places.hpp"
#include "worker/noted.hpp"
#include "worker/spent.hpp"

namespace dlbench::worker {
namespace {

// An asynchronous consumer that is not waited for piles its copies up: 7 GB were seen.
std::uint64_t most_in_flight(std::uint64_t bytes) {
  constexpr std::uint64_t kMostBytes = 256ULL << 20;
  return std::max<std::uint64_t>(1, kMostBytes / std::max<std::uint64_t>(1, bytes));
}

constexpr std::uint64_t kMostIterations = 10'000'000;

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

}  // namespace

Prepared::Prepared(const Order& order, const Library& producer, const Library& consumer,
                   Arrays& arrays, const Step& step)
    : label_(name(Cell{order.exchange, "exchange", "call"})),
      bytes_(order.exchange.bytes),
      producer_(producer),
      consumer_(consumer),
      call_(call_of(consumer, order.exchange)),
      crossing_(call_.spelled.get()),
      ready_(ready_of(consumer, order.exchange)),
      most_iterations_(ready_ ? most_in_flight(bytes_) : kMostIterations),
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
  try {
    return cross_and_wait(given_[0], [&] { step("ready"); });
  } catch (const Failure& failure) {
    // No library refused it.
    if (failure.outcome != Outcome::refused || !refused_itself(given_[0])) throw;
    throw Failure{Outcome::no_protocol, "",
                  "the consumer insists on an argument that the producer's own call does not take; "
                  "it says: " +
                      failure.reason};
  }
}

// What only the first call of an exchange costs and says, no later one does: its time and words are
// kept, whatever it was given.
Ref Prepared::cross_and_wait(PyObject* x, const std::function<void()>& called) {
  if (!first_ns_.empty()) {
    Ref result = cross_once(x);
    called();
    wait_for(result.get());
    return result;
  }
  const Noted noted;
  const double begin = now_ns();
  Ref result = cross_once(x);
  const double call_ns = now_ns() - begin;
  noted_ = noted.texts();
  called();
  const double wait_begin = now_ns();
  wait_for(result.get());
  first_ns_["call"] = call_ns;
  first_ns_["ready"] = call_ns + now_ns() - wait_begin;
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

}  // namespace dlbench::worker

#include "worker/prepared.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

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
  try {
    cross_and_look(order.exchange.protocol, step);
  } catch (const Failure& failure) {
    if (!refused_a_proxy(failure)) throw;
    step("call");
    throw without_proxy(failure, order.exchange);
  }
  conclude(judgement_);
  add_warnings();
  step("outlive");
  look_after_dropping(order);
  step("calibrate");
  calibrate(order);
}

// Makes the first crossings, finds the protocol and judges the values.
void Prepared::cross_and_look(const std::string& requested, const Step& step) {
  if (is_converted(requested)) {
    step("tap");
    go_through_relay(requested, "");
  }
  Ref result = cross_first(step);
  step("values");
  const std::optional<Failure> wrong = judge_values(result.get());
  if (!wrong) {
    step("lifetime");
    check_lifetime(result);
  }
  const bool was_found = between();
  if (!was_found) {
    step("tap");
    try {
      find_protocol(requested, result.get() == first_asked(), wrong.has_value());
    } catch (const Failure& failure) {
      if (!wrong) throw;
      throw Failure{Outcome::wrong, "", wrong->reason + "; " + failure.reason};
    }
  }
  if (!relayed() || was_found) {
    if (wrong) throw Failure(*wrong);
    return;
  }
  // The values above came by another protocol: they are not this cell's.
  const Ref relayed_result = cross_first(step);
  if (const std::optional<Failure> relayed_wrong = judge_values(relayed_result.get())) {
    throw Failure(*relayed_wrong);
  }
}

// Fills the judgement, or returns why the values are wrong.
std::optional<Failure> Prepared::judge_values(PyObject* result) {
  try {
    judgement_ = look_at_both_ends(*pool_, producer_, result, consumer_);
    return {};
  } catch (const Failure& failure) {
    if (failure.outcome != Outcome::wrong) throw;
    return failure;
  }
}

// The first call on the way that will be timed.
Ref Prepared::cross_first(const Step& step) {
  step("call");
  try {
    return cross_and_wait(given_[0], noted_, [&] { step("ready"); });
  } catch (const Failure& failure) {
    // No library refused it.
    if (failure.outcome != Outcome::refused || !refused_itself(given_[0])) throw;
    throw Failure{Outcome::no_protocol, "",
                  "the consumer insists on an argument that the producer's own call does not take; "
                  "it says: " +
                      failure.reason};
  }
}

// What only the first call of an exchange costs no later one does: its time is kept, whatever it
// was given. Python warnings are added to `words`.
Ref Prepared::cross_and_wait(PyObject* x, std::vector<std::string>& words,
                             const std::function<void()>& called) {
  double call_ns = 0;
  Ref result = [&] {
    const Noted noted;
    const double begin = now_ns();
    Ref crossed = cross_once(x);
    call_ns = now_ns() - begin;
    for (std::string& text : noted.texts()) {
      if (std::find(words.begin(), words.end(), text) == words.end()) {
        words.push_back(std::move(text));
      }
    }
    return crossed;
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

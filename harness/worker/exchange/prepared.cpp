#include "worker/exchange/prepared.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/codes.hpp"
#include "model/names.hpp"
#include "model/places.hpp"
#include "worker/arrays/read.hpp"
#include "worker/judge/judging.hpp"
#include "worker/library/dispatch.hpp"

namespace dlbench::worker {

Prepared::Prepared(const Order& order, const Library& producer, const Library& consumer,
                   Arrays& arrays, const Announce& step)
    : call(order, producer, consumer, arrays, step),
      protocol(call),
      judge(order, call),
      blocks(call),
      phases(call, protocol.observed()),
      label(name(Cell{order.exchange, "exchange", "call"})),
      bytes(order.exchange.bytes) {
  const Look look = [&](bool was_taken) {
    step(Step::values);
    try {
      arrays.require_case(order.exchange, producer, order.make_case, was_taken);
    } catch (const Failure& failure) {
      // That one more array cannot be made is no fault of this exchange.
      if (failure.outcome == Outcome::unsupported && failure.code.empty()) throw;
    }
  };
  const Within inside(call.import_call().within());
  try {
    cross(order, step, look);
  } catch (const Failure& failure) {
    // A refusal hides that the array is not the case.
    if (failure.outcome == Outcome::refused) look(false);
    throw;
  }
  step(Step::calibrate);
  blocks.calibrate(order);
}

void Prepared::cross(const Order& order, const Announce& step, const Look& look) {
  const std::string& requested = order.exchange.protocol;
  if (requested == Protocol::call) {
    call_function(order, step, look);
  } else if (is_dispatch(requested)) {
    dispatch(order, step, look);
  } else {
    call.pass_exporters(requested);
    try {
      find_protocol(order.exchange, step, look);
    } catch (const Failure& failure) {
      if (!protocol.is_refusal_of_proxy(failure)) throw;
      step(Step::call);
      throw protocol.explain_refusal(failure, order.exchange, [this](PyObject* result) {
        return judge.find_wrong_values(result);
      });
    }
    judge.conclude();
    step(Step::outlive);
    try {
      judge.check_outliving(order);
    } catch (const Failure& failure) {
      throw with_way(failure);
    }
  }
}

// Calls a function that returns nothing. The record of its body shows what it received.
void Prepared::call_function(const Order& order, const Announce& step, const Look& look) {
  call.pass_rows(order.exchange.arrays);
  call.import_first(step);
  look(true);
  judge.judge_calls();
  protocol.set_computed(order.exchange.protocol);
  judge.add_warnings();
}

// A script needs it: the array itself may have other values than what a proxy offers.
Failure Prepared::with_way(Failure failure) const {
  if (call.is_proxied()) failure.data["via"] = "proxy";
  return failure;
}

// Calls a NumPy function on the array. The result is computed, so only its type and extras are
// compared, not memory or values.
void Prepared::dispatch(const Order& order, const Announce& step, const Look& look) {
  const std::string& requested = order.exchange.protocol;
  PyTypeObject* type = Py_TYPE(call.first_array());
  if (!overrides(type, requested)) {
    const std::string function = dispatching(requested);
    step(Step::call);
    const Dispatched found = describe_dispatch(function, call.first_array(), call.producer());
    std::map<std::string, std::string> data{{"became", found.became}};
    if (!found.exception.empty()) data["exception"] = found.exception;
    throw Failure{Outcome::no_protocol, "",
                  std::string("a ") + type->tp_name + " offers no " + requested +
                      ": NumPy converts it; np." + function + ": " + found.became,
                  std::string(codes::kConverted), std::move(data)};
  }
  call.pass_arrays();
  const Ref result = call.import_first(step);
  look(true);
  judge.compare_extras(result.get());
  protocol.set_computed(requested);
  judge.add_warnings();
}

// A call of several protocols that refuses the array because of another one may import it through
// the requested one. A call of this protocol alone has refused the array.
Ref Prepared::import_first(const std::string& requested, const Announce& step) {
  try {
    return call.import_first(step);
  } catch (const Failure& refusal) {
    const bool is_direct = !call.is_proxied() && !call.has_exports();
    if (refusal.outcome != Outcome::refused || !is_direct || requested == Protocol::convert ||
        call.has_own_call()) {
      throw;
    }
    step(Step::recorder);
    if (!protocol.use_proxy_after_refusal(requested)) throw;
  }
  return call.import_first(step);
}

// Makes the first calls, finds the protocol and judges the values.
void Prepared::find_protocol(const Exchange& exchange, const Announce& step, const Look& look) {
  const std::string& requested = exchange.protocol;
  if (call.is_converted(requested)) {
    step(Step::recorder);
    protocol.use_proxy(requested, "");
  }
  Ref result = import_first(requested, step);
  look(true);
  if (crosses_devices(exchange)) {
    require_device(target_of(exchange), exchange, result.get(), call.consumer());
  }
  const std::optional<Failure> wrong = judge.find_wrong_values(result.get());
  if (!wrong) {
    step(Step::lifetime);
    judge.check_lifetime(result);
  }
  const bool was_found = protocol.observed().has_proxy();
  if (!was_found) {
    step(Step::recorder);
    try {
      protocol.find(
          requested, result.get() == call.first_exporter(), wrong.has_value(),
          [&](PyObject* other) { return judge.is_alike(result.get(), other, wrong.has_value()); });
    } catch (const Failure& failure) {
      if (!wrong) throw;
      Failure both = *wrong;
      both.reason += "; " + failure.reason;
      throw both;
    }
  }
  if (!call.is_proxied() || was_found) {
    if (wrong) throw with_way(*wrong);
    return;
  }
  // The values above were imported through another protocol, so judge those of this cell.
  const Ref proxied_result = call.import_first(step);
  if (const std::optional<Failure> proxied_wrong = judge.find_wrong_values(proxied_result.get())) {
    throw with_way(*proxied_wrong);
  }
}

}  // namespace dlbench::worker

#include "worker/exchange/exchange_phases.hpp"

#include <algorithm>

#include "model/names.hpp"
#include "worker/base/garbage.hpp"

namespace dlbench::worker {

void ExchangePhases::prepare() {
  if (is_dispatch(observed_.observation.used)) {
    throw Failure{Outcome::no_protocol, "",
                  "nothing is transferred: NumPy's function calls the array's own code"};
  }
  if (observed_.observation.used == Protocol::call) {
    CallPhases(call_).round(1, 0, 0);
    call_phases_.emplace(call_);
    return;
  }
  if (observed_.has_unknown_requests) {
    throw Failure{Outcome::no_protocol, "",
                  "the consumer treats the array in another way than a proxy of it, so its "
                  "requests are unknown"};
  }
  if (observed_.observation.used == "own") {
    throw Failure{Outcome::no_protocol, "",
                  "the consumer makes no request to the array, so the exchange has no phases"};
  }
  if (observed_.is_truncated) {
    throw Failure{Outcome::unsupported, "",
                  "the consumer makes too many requests to the array for a replay"};
  }
  phases_ = std::make_unique<Phases>(WholeExchange{
      call_.import_call(), call_.exporters(), call_.inputs(), call_.shown(), observed_.recording,
      call_.is_proxied(), call_.ready(), call_.most_iterations()});
}

Phases& ExchangePhases::prepared() {
  if (call_phases_) {
    throw Failure{Outcome::unsupported, "",
                  "the phases of a call can only be timed, in its own body"};
  }
  if (!phases_)
    throw Failure{Outcome::refused, "", "the phases are not prepared; request `split` first"};
  return *phases_;
}

void ExchangePhases::count(std::uint64_t iterations, std::uint64_t prelude) {
  prepared().count(std::min(iterations, call_.most_iterations()), prelude);
  collect_garbage();
}

PhaseReading ExchangePhases::round(std::uint64_t iterations, std::uint64_t prelude,
                                   std::uint64_t seed) {
  PhaseReading reading = call_phases_ ? call_phases_->round(iterations, prelude, seed)
                                      : prepared().round(iterations, prelude, seed);
  collect_garbage();
  return reading;
}

std::string ExchangePhases::walk(const Around& around) {
  around(trace::Category::exchange, [&] {
    const Ref result = checked(call_.import_call()(call_.next_input()));
    if (call_.ready() != nullptr) {
      around(trace::Category::ready, [&] { call_.wait_for(result.get()); });
    }
  });
  std::string why_whole;
  try {
    if (!phases_ && !call_phases_) prepare();
    around(trace::Category::phases, [&] { prepared().walk(around); });
  } catch (const Failure& failure) {
    why_whole = failure.reason;
  }
  collect_garbage();
  return why_whole;
}

}  // namespace dlbench::worker

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

/// How the consumer imports the array, as observed.
struct ObservedProtocol {
  Seen seen;
  Recording recording;          ///< its requests to the array, on the timed path
  bool is_torn = false;         ///< it made more requests than the recording holds
  bool refuses_replay = false;  ///< its requests to the array itself are then unknown

  bool is_proxied() const { return seen.via == "proxy"; }
  /// Is an object of dlbench between the two libraries?
  bool has_proxy() const { return is_proxied() || seen.via == "exports"; }
};

/// Finds the protocol by which the consumer imports the array. Passes it a proxy where only that
/// makes it use the requested protocol.
class ProtocolSearch {
 public:
  explicit ProtocolSearch(ExchangeCall& call) : call_(call) {}

  const ObservedProtocol& observed() const { return observed_; }

  /// A protocol of dispatch, which calls the array's own method.
  void set_dispatched(const std::string& protocol) {
    observed_.seen = {protocol, "direct", {}, "", {}, {}, {}};
  }

  /// Calls once more through a recording proxy that shows everything that the producer offers.
  /// `is_same_object`: the direct call returned its argument. `is_wrong`: it returned wrong values.
  /// Throws Failure `no-protocol` where the requested protocol is not used.
  void find(const std::string& requested, bool is_same_object, bool is_wrong);

  /// Passes proxies that show the requested protocol alone. `direct`: the protocol that carries the
  /// array itself, where known. Throws Failure.
  void use_proxy(const std::string& requested, const std::string& direct);

  /// Was the consumer's exception about an object of dlbench?
  bool is_refusal_of_proxy(const Failure& failure) const {
    return failure.outcome == Outcome::refused && (given_proxy_ || call_.has_exports());
  }

  /// The outcome after such a refusal: the call with the array itself decides. `find_wrong`
  /// compares the values of a result.
  Failure explain_refusal(const Failure& refusal, const Exchange& exchange,
                          const std::function<std::optional<Failure>(PyObject*)>& find_wrong);

  /// The consumer's requests on the streams that are current now: a library passes its current one.
  /// Throws Failure.
  Recording record_now();

 private:
  void observe(const Recorder& recorder, const char* via);

  ExchangeCall& call_;
  ObservedProtocol observed_;
  bool given_proxy_ = false;      // the consumer got a proxy for this cell
  bool producer_raised_ = false;  // the producer itself failed the last request
};

}  // namespace dlbench::worker

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

/// How the consumer was seen to import the array.
struct ObservedProtocol {
  Seen seen;
  Recording recording;          ///< what it asked of the array, on the way that is timed
  bool is_torn = false;         ///< it asked more than the recording holds
  bool refuses_replay = false;  ///< what it asks of the array itself is then not known

  bool is_proxied() const { return seen.via == "proxy"; }
  /// Does an object of dlbench's stand between the two libraries?
  bool has_proxy() const { return is_proxied() || seen.via == "exports"; }
};

/// Finds by which protocol the consumer imports the array, and gives it a proxy where only that
/// makes it use the requested one.
class ProtocolSearch {
 public:
  explicit ProtocolSearch(ExchangeCall& call) : call_(call) {}

  const ObservedProtocol& observed() const { return observed_; }

  /// A protocol of dispatch, which is called on the array itself.
  void set_dispatched(const std::string& protocol) {
    observed_.seen = {protocol, "direct", {}, "", {}, {}, {}};
  }

  /// Calls once more through a recording proxy that shows all that the producer has.
  /// `is_same_object`: the direct call returned its argument. `is_wrong`: it gave wrong values.
  /// Throws Failure `no-protocol` where the requested protocol is not used.
  void find(const std::string& requested, bool is_same_object, bool is_wrong);

  /// Gives the consumer proxies that show the requested protocol alone. `direct`: what carries the
  /// array itself, where that is known. Throws Failure.
  void use_proxy(const std::string& requested, const std::string& direct);

  /// Was it an object of dlbench's that the consumer raised at?
  bool is_refusal_of_proxy(const Failure& failure) const {
    return failure.outcome == Outcome::refused && (given_proxy_ || call_.has_exports());
  }

  /// Why the exchange has no number after such a refusal: the call with the array itself decides.
  /// `find_wrong` compares the values of a result.
  Failure explain_refusal(const Failure& refusal, const Exchange& exchange,
                          const std::function<std::optional<Failure>(PyObject*)>& find_wrong);

  /// What the consumer asks on the streams that are current now: a library passes its current one.
  /// Throws Failure.
  Recording record_now();

 private:
  void observe(const Recorder& recorder, const char* via);

  ExchangeCall& call_;
  ObservedProtocol observed_;
  bool given_proxy_ = false;      // the consumer was given a proxy for this cell
  bool producer_raised_ = false;  // and the producer itself failed its last request
};

}  // namespace dlbench::worker

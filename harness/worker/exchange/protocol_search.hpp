#pragma once

#include <functional>
#include <optional>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

/// How the consumer imports the array, as observed.
struct ObservedProtocol {
  Observation observation;
  Recording recording;        ///< its requests to the array in the timed call
  bool is_truncated = false;  ///< it made more requests than the recording holds
  /// It treats the recording proxy in another way than the array itself, or refuses the proxy.
  bool has_unknown_requests = false;

  bool is_proxied() const { return observation.via == "proxy"; }
  /// Is an object of dlbench between the two libraries?
  bool has_proxy() const { return is_proxied() || observation.via == "exports"; }
};

/// Finds the protocol through which the consumer imports the array. Passes a proxy if the consumer
/// needs one to use the requested protocol.
class ProtocolSearch {
 public:
  explicit ProtocolSearch(ExchangeCall& call) : call_(call) {}

  const ObservedProtocol& observed() const { return observed_; }

  /// Sets a protocol in which nothing is imported: NumPy calls the array's own method, or a
  /// function gets the array, perhaps by these requests.
  void set_computed(const std::string& protocol, std::vector<std::string> calls = {}) {
    observed_.observation = {protocol, "direct", std::move(calls), "", {}, {}, {}};
  }

  /// Calls once more through a recording proxy that offers every protocol of the producer.
  /// `is_same_object`: the direct call returned its argument. `is_wrong`: it returned wrong values.
  /// `is_alike`: may the direct call have imported what the recorded call returned? Throws Failure
  /// `no-protocol` if the requested protocol is not used.
  void find(const std::string& requested, bool is_same_object, bool is_wrong,
            const std::function<bool(PyObject*)>& is_alike);

  /// Passes proxies that offer only the requested protocol. `direct`: how the consumer imports the
  /// array itself, for the message; may be empty. Throws Failure.
  void use_proxy(const std::string& requested, const std::string& direct);

  /// After the consumer refused the array itself: does it import a proxy that offers only the
  /// requested protocol, and through it? If so, passes such proxies.
  bool use_proxy_after_refusal(const std::string& requested);

  /// Is the consumer's exception about an object of dlbench?
  bool is_refusal_of_proxy(const Failure& failure) const {
    return failure.outcome == Outcome::refused && (has_passed_proxy_ || call_.has_exports());
  }

  /// The outcome after such a refusal, which depends on a call with the array itself. `find_wrong`
  /// compares the values of a result.
  Failure explain_refusal(const Failure& refusal, const Exchange& exchange,
                          const std::function<std::optional<Failure>(PyObject*)>& find_wrong);

  /// Records the consumer's requests again, because a library passes its current stream. Throws
  /// Failure.
  Recording record_now();

 private:
  void observe(const Recorder& recorder, const char* via);

  ExchangeCall& call_;
  ObservedProtocol observed_;
  bool has_passed_proxy_ = false;  // a proxy was passed to the consumer for this cell
  bool producer_raised_ = false;   // the producer raised in the last request
};

}  // namespace dlbench::worker

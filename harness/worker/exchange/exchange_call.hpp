#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/step.hpp"
#include "model/warning.hpp"
#include "worker/arrays/arrays.hpp"
#include "worker/exchange/call_proof.hpp"
#include "worker/library/consumer_call.hpp"
#include "worker/library/devices.hpp"
#include "worker/library/exported.hpp"
#include "worker/library/import_call.hpp"
#include "worker/library/order.hpp"
#include "worker/proxy/proxy.hpp"
#include "worker/proxy/recorder.hpp"

namespace dlbench::worker {

/// Reports the next step to the supervisor.
using Announce = std::function<void(Step)>;

/// What a consumer made of a recording proxy.
struct Recorded {
  Ref result;                      ///< null if it raised
  std::optional<Failure> refusal;  ///< what it raised
};

/// The arrays of one exchange, the objects that are passed to the consumer, and the compiled call
/// of the consumer. The libraries must outlive it.
class ExchangeCall {
 public:
  /// Makes the arrays. Throws Failure.
  ExchangeCall(const Order& order, const Library& producer, const Library& consumer, Arrays& arrays,
               const Announce& step);

  const Library& producer() const { return producer_; }
  const Library& consumer() const { return consumer_; }
  const Pool& pool() const { return *pool_; }
  /// The device of the producer's array: current during each exchange.
  const DeviceAt& source() const { return source_; }
  ImportCall& import_call() { return import_call_; }
  /// The consumer's wait, or null.
  PyObject* ready() const { return ready_.get(); }
  /// Why the consumer's stream is unknown, if its `stream` failed.
  const std::string& stream_failure() const { return stream_failure_; }
  /// The most calls without a wait, which bounds the pending work of an asynchronous consumer.
  std::uint64_t most_iterations() const { return most_iterations_; }
  /// Does the consumer lack a call for this protocol? Its conversion call then gets a proxy that
  /// offers this protocol alone.
  bool is_converted(const std::string& requested) const {
    return call_.name == Protocol::convert && requested != Protocol::convert;
  }

  /// Is this call of the consumer for this protocol and no other?
  bool has_own_call() const { return call_.is_own && call_.name != Protocol::convert; }

  PyObject* first_array() const { return pool_->arrays.front().get(); }
  /// The objects that answer a request for a protocol: the arrays, or the results of EXPORTS.
  const std::vector<Ref>& exporters() const {
    return exported_.empty() ? pool_->arrays : exported_;
  }
  PyObject* first_exporter() const { return exporters().front().get(); }
  bool has_exports() const { return !exported_.empty(); }
  /// `Observation::via` without a proxy.
  const char* way() const { return exported_.empty() ? "direct" : "exports"; }

  /// Passes the arrays to the consumer, or the results of EXPORTS if the arrays do not offer the
  /// protocol. Throws Failure `no-protocol` if neither does.
  void pass_exporters(const std::string& requested);
  /// Passes the sets of arrays of a `call` as rows (see Spread). Throws Failure.
  void pass_rows(std::size_t arrays);
  /// The proof of a `call`, or null.
  CallProof* proof() { return proof_ ? &*proof_ : nullptr; }
  /// Passes the arrays themselves to the consumer, whatever they offer.
  void pass_arrays() { set_inputs(pool_->arrays); }
  /// Passes a proxy for each array to the consumer, which offers only these protocols.
  void pass_proxies(Shown shown);
  /// The same for another array of this exchange.
  Ref object_for(const Ref& array) const;
  bool is_proxied() const { return is_proxied_; }
  /// The protocols that a proxy must offer to be imported as the present inputs are.
  Shown shown() const { return shown_; }
  /// The objects for the consumer, in the timed loop's order. Borrowed.
  std::span<PyObject* const> inputs() const { return borrowed_; }
  /// The index of the next input, at which the timed loops continue.
  std::size_t& next() { return next_; }
  /// The next input, borrowed; the one after it follows.
  PyObject* next_input() {
    PyObject* input = borrowed_[next_];
    next_ = next_ + 1 == borrowed_.size() ? 0 : next_ + 1;
    return input;
  }

  /// One call of the consumer; its data may not be ready yet. Throws Failure.
  Ref import(PyObject* x);
  void wait_for(PyObject* result);
  Ref import_and_wait(PyObject* x);
  /// The first call on the timed path. Throws Failure.
  Ref import_first(const Announce& step);
  /// One call through a proxy that records the consumer's requests in `recorder`. Adds Python
  /// warnings to `warnings`.
  Recorded import_recorded(Shown shown, Recorder& recorder, Warnings& warnings);

  /// Python warnings of the first calls on the timed path.
  Warnings& python_warnings() { return python_warnings_; }
  /// Duration of the very first call, in ns by clock: later calls do not include its one-time
  /// costs.
  const std::map<std::string, double>& first_ns() const { return first_ns_; }

 private:
  void set_inputs(std::vector<Ref> objects);
  Ref import_with_warnings(PyObject* x, Warnings& warnings, const std::function<void()>& called);

  const Library& producer_;
  const Library& consumer_;
  ConsumerCall call_;
  DeviceAt source_;
  ImportCall import_call_;
  std::string stream_failure_;
  Ref ready_;
  std::uint64_t most_iterations_;
  std::shared_ptr<const Pool> pool_;
  Export export_;                    // used if no attribute of the arrays offers the protocol
  std::vector<Ref> exported_;        // the objects that offer the protocol through export_
  std::vector<Ref> inputs_;          // the arrays, or the objects in their place
  std::vector<PyObject*> borrowed_;  // of inputs_
  std::size_t next_ = 0;
  std::optional<CallProof> proof_;
  Shown shown_ = 0;
  bool is_proxied_ = false;
  Warnings python_warnings_;
  std::map<std::string, double> first_ns_;
};

}  // namespace dlbench::worker

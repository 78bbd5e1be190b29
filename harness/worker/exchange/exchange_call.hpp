#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/warning.hpp"
#include "worker/library/arrays.hpp"
#include "worker/library/consumer_call.hpp"
#include "worker/library/devices.hpp"
#include "worker/library/exported.hpp"
#include "worker/library/import_call.hpp"
#include "worker/library/order.hpp"
#include "worker/proxy/proxy.hpp"
#include "worker/proxy/recorder.hpp"

namespace dlbench::worker {

/// Reports to the fleet what is about to be tried, so that it can say where a worker died.
using Step = std::function<void(const char*)>;

/// The arrays of one exchange, what the consumer is given in their place, and its compiled call.
/// The libraries must outlive it.
class ExchangeCall {
 public:
  /// Makes the arrays. Throws Failure.
  ExchangeCall(const Order& order, const Library& producer, const Library& consumer, Arrays& arrays,
               const Step& step);

  const Library& producer() const { return producer_; }
  const Library& consumer() const { return consumer_; }
  const Pool& pool() const { return *pool_; }
  const std::shared_ptr<const Pool>& shared_pool() const { return pool_; }
  /// Where the producer's array lies: current whenever the exchange is made.
  const DeviceAt& source() const { return source_; }
  ImportCall& import_call() { return import_call_; }
  /// The consumer's wait, or null.
  PyObject* ready() const { return ready_.get(); }
  /// Why the consumer's stream is not known, where its `stream` failed.
  const std::string& stream_failure() const { return stream_failure_; }
  /// The most calls in a row: an asynchronous consumer must not run ahead of its work.
  std::uint64_t most_iterations() const { return most_iterations_; }
  /// Has the consumer no call for this protocol, so that its conversion is shown nothing else?
  bool is_converted(const std::string& requested) const {
    return call_.name == "convert" && requested != "convert";
  }

  PyObject* first_array() const { return pool_->arrays.front().get(); }
  /// What answers for the arrays when a protocol is requested: they, or what EXPORTS make of them.
  const std::vector<Ref>& exporters() const {
    return exported_.empty() ? pool_->arrays : exported_;
  }
  PyObject* first_exporter() const { return exporters().front().get(); }
  bool has_exports() const { return !exported_.empty(); }
  /// How the consumer gets at the arrays where no proxy is between: `Seen::via`.
  const char* way() const { return exported_.empty() ? "direct" : "exports"; }

  /// Gives the consumer the arrays, or what EXPORTS make of them where the arrays do not offer the
  /// protocol. Throws Failure `no-protocol` where neither does.
  void give_exporters(const std::string& requested);
  /// Gives the consumer the arrays themselves, whatever they offer.
  void give_arrays() { give(pool_->arrays); }
  /// Gives the consumer a proxy before each array from now on, which shows only that.
  void give_proxies(Shown shown);
  /// The same of another array of this exchange.
  Ref object_for(const Ref& array) const;
  bool is_proxied() const { return is_proxied_; }
  /// What a proxy must show to be imported as the given objects are.
  Shown shown() const { return shown_; }
  /// What the consumer is given, in the timed loop's order. Borrowed.
  std::span<PyObject* const> given() const { return borrowed_; }
  /// Which of them is next; the timed loops go on from there.
  std::size_t& next() { return next_; }

  /// One call of the consumer; its data may not be there yet. Throws Failure.
  Ref import(PyObject* x);
  void wait_for(PyObject* result);
  Ref import_and_wait(PyObject* x);
  /// The first call on the way that will be timed. Throws Failure.
  Ref import_first(const Step& step);
  /// One call through a proxy that records what is asked of it in `recorder`. Returns what the
  /// consumer raised, or nothing. Python warnings are added to `warnings`.
  std::optional<Failure> import_recorded(Shown shown, Recorder& recorder, Warnings& warnings);

  /// Python warnings of the first calls on the way that is timed.
  Warnings& python_warnings() { return python_warnings_; }
  /// What the very first call took, in ns by clock: later ones do not pay that again.
  const std::map<std::string, double>& first_ns() const { return first_ns_; }

 private:
  void give(std::vector<Ref> objects);
  Ref import_noting(PyObject* x, Warnings& warnings, const std::function<void()>& called);

  const Library& producer_;
  const Library& consumer_;
  ConsumerCall call_;
  DeviceAt source_;
  ImportCall import_call_;
  std::string stream_failure_;
  Ref ready_;
  std::uint64_t most_iterations_;
  std::shared_ptr<const Pool> pool_;
  Export export_;                    // of what no attribute of the arrays offers, or empty
  std::vector<Ref> exported_;        // then what offers it
  std::vector<Ref> given_;           // the arrays, or what stands for them
  std::vector<PyObject*> borrowed_;  // of given_
  std::size_t next_ = 0;
  Shown shown_ = 0;
  bool is_proxied_ = false;
  Warnings python_warnings_;
  std::map<std::string, double> first_ns_;
};

}  // namespace dlbench::worker

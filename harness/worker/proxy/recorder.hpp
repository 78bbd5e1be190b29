#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange/guard/guard.hpp"
#include "worker/library/capsule.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

class BorrowedTensors;

/// Records the requests of a consumer to a recording proxy.
class Recorder {
 public:
  /// `protocol` is empty for a request that transfers no data.
  void answered(std::string protocol, Request request);
  /// Records the type of the pending exception, which stays pending. `ours`: the proxy raised it
  /// without calling the producer.
  void raised(Request request, bool ours = false);
  void set_facts(CapsuleFacts facts) { facts_ = std::move(facts); }
  void set_address(std::uintptr_t address) { address_ = address; }

  /// Counts the producer's exports in `borrowed_tensors`.
  void watch(BorrowedTensors* borrowed_tensors) { borrowed_tensors_ = borrowed_tensors; }
  BorrowedTensors* borrowed_tensors() const {
    return borrowed_tensors_;
  }  ///< null if they are not counted

  /// The protocol of the last successful request that transfers data, or empty.
  const std::string& used() const { return used_; }
  /// The requests as text; failures end with " -> TypeError".
  const std::vector<std::string>& calls() const { return calls_; }
  const CapsuleFacts& facts() const { return facts_; }

  /// Address of the first element of the producer's last export; 0 if unknown.
  std::uintptr_t address() const { return address_; }

  /// All requests, ready to be repeated.
  const Recording& recording() const { return recording_; }
  /// Did the producer raise in the last request?
  bool producer_failed() const { return producer_failed_; }

  /// Did the consumer make more requests than the recording holds?
  bool is_truncated() const { return is_truncated_; }

 private:
  void keep(Request request, std::string call);

  std::string used_;
  std::vector<std::string> calls_;
  Recording recording_;
  bool is_truncated_ = false;
  bool producer_failed_ = false;
  CapsuleFacts facts_;
  BorrowedTensors* borrowed_tensors_ = nullptr;
  std::uintptr_t address_ = 0;
};

/// The address of the data of a capsule, a dict or an array from a producer; 0 if unknown. Leaves
/// no exception pending.
std::uintptr_t address_in(PyObject* exported);

/// Marks its scope as the producer's code for an active guard. Does nothing without a recorder.
class Producing {
 public:
  explicit Producing(const Recorder* recorder) {
    if (recorder != nullptr) span_.emplace(exchange::Stage::producer);
  }

 private:
  std::optional<exchange::StageSpan> span_;
};

}  // namespace dlbench::worker

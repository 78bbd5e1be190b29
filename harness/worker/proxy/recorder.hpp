#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange/guard.hpp"
#include "worker/library/capsule.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

class BorrowedTensors;

/// The requests of a consumer to a recording proxy.
class Recorder {
 public:
  /// `protocol` is empty for a request that carries no data.
  void answered(std::string protocol, Asked request);
  /// Reads the type of the pending exception and leaves it pending. `ours`: the producer was not
  /// called.
  void raised(Asked request, bool ours = false);
  void handed_over(CapsuleFacts facts) { facts_ = std::move(facts); }
  void handed_address(std::uintptr_t address) { address_ = address; }

  /// Counts the producer's exports there, from now on.
  void watch(BorrowedTensors* borrowed_tensors) { borrowed_tensors_ = borrowed_tensors; }
  BorrowedTensors* borrowed_tensors() const {
    return borrowed_tensors_;
  }  ///< null where nothing counts

  /// The protocol of the last answered request that carries data, or empty.
  const std::string& used() const { return used_; }
  /// As they are reported: failures end with " -> TypeError".
  const std::vector<std::string>& calls() const { return calls_; }
  const CapsuleFacts& facts() const { return facts_; }

  /// Address of the first element of the producer's last export; 0 where unknown.
  std::uintptr_t address() const { return address_; }

  /// All requests, ready to be repeated.
  const Recording& recording() const { return recording_; }
  /// Did the producer itself fail the last request?
  bool producer_failed() const { return producer_failed_; }

  /// The consumer made more requests than the recording holds.
  bool is_torn() const { return torn_; }

 private:
  void keep(Asked request, std::string call);

  std::string used_;
  std::vector<std::string> calls_;
  Recording recording_;
  bool torn_ = false;
  bool producer_failed_ = false;
  CapsuleFacts facts_;
  BorrowedTensors* borrowed_tensors_ = nullptr;
  std::uintptr_t address_ = 0;
};

/// The address of the data in a capsule, a dict or an array from a producer; 0 where unknown.
/// Leaves no exception pending.
std::uintptr_t address_in(PyObject* handed_over);

/// Its scope contains the producer's own code, for an active guard. Does nothing without a
/// recorder.
class Producing {
 public:
  explicit Producing(const Recorder* recorder) {
    if (recorder != nullptr) span_.emplace(exchange::Stage::producer);
  }

 private:
  std::optional<exchange::StageSpan> span_;
};

}  // namespace dlbench::worker

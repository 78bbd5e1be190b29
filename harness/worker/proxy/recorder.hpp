#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange/guard.hpp"
#include "worker/library/capsule.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

class BorrowedTensors;

/// What a recording proxy saw the consumer ask for.
class Recorder {
 public:
  /// `protocol` is empty for what carries no data.
  void answered(std::string protocol, Asked request);
  /// Reads the type of the pending exception, leaves it pending. `ours`: no producer was asked.
  void raised(Asked request, bool ours = false);
  void handed_over(CapsuleFacts facts) { facts_ = std::move(facts); }
  void handed_address(std::uintptr_t address) { address_ = address; }

  /// Has what the producer exports counted there, from now on.
  void watch(BorrowedTensors* borrowed_tensors) { borrowed_tensors_ = borrowed_tensors; }
  BorrowedTensors* borrowed_tensors() const {
    return borrowed_tensors_;
  }  ///< null where nobody counts

  /// The protocol of the last answered request that carries data, or empty.
  const std::string& used() const { return used_; }
  /// As they are told: failures with " -> TypeError" behind.
  const std::vector<std::string>& calls() const { return calls_; }
  const CapsuleFacts& facts() const { return facts_; }

  /// Of the first element of what the producer last handed over; 0 where it is not known.
  std::uintptr_t address() const { return address_; }

  /// All that was asked, to be asked again.
  const Recording& recording() const { return recording_; }
  /// Did the producer itself fail the last request?
  bool producer_failed() const { return producer_failed_; }

  /// More was asked than the recording holds.
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

/// Where the data lies that a producer gave as a capsule, a dict or an array; 0 where nothing
/// tells. Leaves no exception behind.
std::uintptr_t address_in(PyObject* handed_over);

/// Its scope is the producer's own code, for a guard that is up. Nothing where nobody records.
class Producing {
 public:
  explicit Producing(const Recorder* recorder) {
    if (recorder != nullptr) span_.emplace(exchange::Stage::producer);
  }

 private:
  std::optional<exchange::StageSpan> span_;
};

}  // namespace dlbench::worker

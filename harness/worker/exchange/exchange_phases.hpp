#pragma once

#include <memory>
#include <optional>
#include <string>

#include "worker/exchange/call_phases.hpp"
#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/timing/phases.hpp"

namespace dlbench::worker {

/// Measures the phases of one exchange, if they can be separated.
class ExchangePhases {
 public:
  ExchangePhases(ExchangeCall& call, const ObservedProtocol& observed)
      : call_(call), observed_(observed) {}

  /// Prepares the replay, or the stamp in the body of a call. Throws Failure if the phases cannot
  /// be separated.
  void prepare();
  /// Of what is prepared: ReplaySource's name, or "body".
  std::string way() const { return phases_ ? phases_->way() : "body"; }
  const Recording& recording() const {
    return phases_ ? phases_->recording() : observed_.recording;
  }
  Warnings warnings() const { return phases_ ? phases_->warnings() : Warnings(); }
  /// Counts the instructions of the phases under callgrind. Throws Failure, also if they are not
  /// prepared.
  void count(std::uint64_t iterations, std::uint64_t prelude);
  /// Times one round of the phases. Throws Failure, also if they are not prepared.
  PhaseReading round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);
  /// Makes one exchange inside `around`, with the wait nested in it; then, if possible, a replayed
  /// exchange, phase by phase. Not timed. Returns why the exchange cannot be replayed, or nothing.
  /// Throws Failure.
  std::string walk(const Around& around);

 private:
  Phases& prepared();

  ExchangeCall& call_;
  const ObservedProtocol& observed_;
  std::unique_ptr<Phases> phases_;
  std::optional<CallPhases> call_phases_;
};

}  // namespace dlbench::worker

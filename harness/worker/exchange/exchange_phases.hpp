#pragma once

#include <memory>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/timing/phases.hpp"

namespace dlbench::worker {

/// Measures the phases of one exchange, if they can be separated.
class ExchangePhases {
 public:
  ExchangePhases(ExchangeCall& call, const ObservedProtocol& observed)
      : call_(call), observed_(observed) {}

  /// Prepares the replay. Throws Failure if the phases cannot be separated.
  const Phases& prepare();
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
};

}  // namespace dlbench::worker

#pragma once

#include <memory>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/timing/phases.hpp"

namespace dlbench::worker {

/// The phases of one exchange, where they can be separated.
class ExchangePhases {
 public:
  ExchangePhases(ExchangeCall& call, const ObservedProtocol& observed)
      : call_(call), observed_(observed) {}

  /// Prepares the replay. Throws Failure where phases cannot be separated.
  const Phases& prepare();
  /// Counts the instructions of their parts under callgrind. Throws Failure, also where they were
  /// not prepared.
  void count(std::uint64_t iterations, std::uint64_t prelude);
  /// Times one round of them. Throws Failure, also where they were not prepared.
  PhaseReading round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);
  /// Makes one exchange inside `around`, with its wait inside that; then, where possible, a
  /// replayed one, phase by phase. Never timed. Returns why it could not be replayed, or nothing.
  /// Throws Failure.
  std::string walk(const Around& around);

 private:
  Phases& prepared();

  ExchangeCall& call_;
  const ObservedProtocol& observed_;
  std::unique_ptr<Phases> phases_;
};

}  // namespace dlbench::worker

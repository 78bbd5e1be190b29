#pragma once

#include <memory>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/timing/phases.hpp"

namespace dlbench::worker {

/// The phases of one exchange, where they can be told apart.
class ExchangePhases {
 public:
  ExchangePhases(ExchangeCall& call, const ObservedProtocol& observed)
      : call_(call), observed_(observed) {}

  /// Gets ready to tell the phases apart. Throws Failure where they cannot be.
  const Phases& prepare();
  /// Counts their parts under callgrind. Throws Failure, also where they were not prepared.
  void count(std::uint64_t iterations, std::uint64_t prelude);
  /// One round of them. Throws Failure, also where they were not prepared.
  PhaseReading round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);
  /// One exchange inside `around`, its wait inside that; then, where it can be, one taken apart.
  /// Never timed. Returns why it could not be taken apart, or nothing. Throws Failure.
  std::string walk(const Around& around);

 private:
  Phases& prepared();

  ExchangeCall& call_;
  const ObservedProtocol& observed_;
  std::unique_ptr<Phases> phases_;
};

}  // namespace dlbench::worker

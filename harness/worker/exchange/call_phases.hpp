#pragma once

#include <cstdint>

#include "worker/exchange/exchange_call.hpp"
#include "worker/timing/phases.hpp"

namespace dlbench::worker {

/// Separates a call of a function of several arrays where its body has its arguments: what comes
/// before is the import; after it a result is made and dropped, and the arguments are released.
class CallPhases {
 public:
  explicit CallPhases(ExchangeCall& call) : call_(call) {}

  /// Times `iterations` calls without and with stamps, after `prelude` untimed ones. `seed`
  /// determines the order. Throws Failure, also if a call returns before its body begins.
  PhaseReading round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);

 private:
  /// Times of several calls, in ns.
  struct Block {
    double ns, before_ns, after_ns;
  };

  double plain(std::uint64_t iterations);
  template <typename Stamp>
  Block stamped(std::uint64_t iterations);

  ExchangeCall& call_;
};

}  // namespace dlbench::worker

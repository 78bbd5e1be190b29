#pragma once

#include <functional>
#include <optional>
#include <string>

#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/exchange_judge.hpp"
#include "worker/exchange/exchange_phases.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/exchange/synchronization.hpp"
#include "worker/exchange/timed_blocks.hpp"

namespace dlbench::worker {

/// Owns one prepared exchange of this worker. Its parts refer to each other, so it cannot be moved.
class Prepared {
 public:
  /// Makes the arrays, calls once, judges values and lifetimes, calls once through a recording
  /// proxy, calibrates. Throws Failure.
  Prepared(const Order& order, const Library& producer, const Library& consumer, Arrays& arrays,
           const Announce& step);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  ExchangeCall call;
  ProtocolSearch protocol;
  ExchangeJudge judge;
  TimedBlocks blocks;
  ExchangePhases phases;
  std::optional<Synchronization> synchronization;  ///< made by the request `sync`
  const std::string label;                         ///< the exchange's name, used for its ranges
  const std::uint64_t bytes;

 private:
  /// Requires that the producer's array is the case; `was_taken` as in Arrays::require_case.
  using Look = std::function<void(bool was_taken)>;

  void cross(const Order& order, const Announce& step, const Look& look);
  void call_function(const Order& order, const Announce& step, const Look& look);
  void dispatch(const Order& order, const Announce& step, const Look& look);
  Ref import_first(const std::string& requested, const Announce& step);
  void find_protocol(const Exchange& exchange, const Announce& step, const Look& look);
  /// The failure, with `via` in its data if the consumer imported a proxy.
  Failure with_way(Failure failure) const;
};

}  // namespace dlbench::worker

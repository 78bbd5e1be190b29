#pragma once

#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"

namespace dlbench::worker {

/// The synchronization of one exchange, as observed.
struct SynchronizationFound {
  std::vector<Ordering> sync;  ///< empty where the producer has no queue
  std::string late_free;       ///< "safe", "late", "inconclusive"; empty where it was not tested
  std::string race;            ///< why the exchange is a race; empty: it is none
};

/// Imports arrays that are still being computed, once for each stream argument, and classifies what
/// waits. Empty where the producer's adapter has no queue. Throws Failure.
SynchronizationFound classify_synchronization(ExchangeCall& call, ProtocolSearch& search,
                                              const Order& order, const Step& step);

}  // namespace dlbench::worker

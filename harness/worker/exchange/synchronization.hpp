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
  std::string late_free;       ///< "safe", "late" or "inconclusive"; empty if not tested
  std::string race;            ///< why the exchange is a race; empty if it is not
};

/// The request that has a stream argument: a `__dlpack__` call. Null if no request has.
const Request* export_call(const Recording& recording);

/// Imports arrays that are still being computed, once for each stream argument, and classifies the
/// synchronization. The result is empty if the producer's adapter has no queue. Throws Failure.
SynchronizationFound classify_synchronization(ExchangeCall& call, ProtocolSearch& search,
                                              const Order& order, const Step& step);

}  // namespace dlbench::worker

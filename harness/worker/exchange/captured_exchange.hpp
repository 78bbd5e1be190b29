#pragma once

#include <optional>

#include "model/capture.hpp"
#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"

namespace dlbench::worker {

/// The exchange that is made during a capture.
struct CaptureOrder {
  bool is_own_call = false;  ///< with the consumer's own argument
  std::string stream;        ///< otherwise this one, as in Capture
  bool is_one_stream = false;
};

struct CaptureFound {
  /// Empty if the exchange has no such argument or is the consumer's own call, or if dlbench cannot
  /// set the producer's stream.
  std::optional<Capture> capture;
  bool is_usable = true;  ///< can the worker make other exchanges on its device?
};

/// Makes an exchange while the consumer's stream captures a graph. Throws Failure.
CaptureFound capture_exchange(ExchangeCall& call, ProtocolSearch& search, const Order& order,
                              const CaptureOrder& wanted, const Announce& step);

}  // namespace dlbench::worker

#pragma once

#include <string>

#include "model/entry.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The public call by which a consumer imports the arrays of an exchange: an entry of its
/// PROTOCOLS, or of the result of its `calls(source, target)` for these devices.
struct ConsumerCall {
  std::string name;  ///< of the entry: the protocol, or `convert`
  Ref spelled;       ///< as written in the adapter
};

/// Throws Failure: no-protocol where it has no such call, no-device where the device is missing.
ConsumerCall call_of(const Library& consumer, const Exchange& exchange);

/// A wait for the library's `stream`, else its own `ready`, else a wait for its device. Empty where
/// a result is ready at once. Where its `stream` raises, `no_stream` gets the reason, and the wait
/// is for the device. Throws Failure.
Ref ready_of(const Library& consumer, const Exchange& exchange, std::string& no_stream);

}  // namespace dlbench::worker

#pragma once

#include <string>

#include "model/entry.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The public call by which a consumer takes the arrays of an exchange: an entry of its PROTOCOLS,
/// or of what its `calls(source, target)` says of these devices.
struct ConsumerCall {
  std::string name;  ///< of the entry: the protocol, or `convert`
  Ref spelled;       ///< as the adapter has it
};

/// Throws Failure: no-protocol where it has no call for that, no-device where there is none.
ConsumerCall call_of(const Library& consumer, const Exchange& exchange);

/// A wait for the stream that the library names, else its own `ready`, else a wait for its device;
/// empty where a result is there at once. Where its `stream` raises, `no_stream` gets the reason,
/// and the wait is for the device. Throws Failure.
Ref ready_of(const Library& consumer, const Exchange& exchange, std::string& no_stream);

}  // namespace dlbench::worker

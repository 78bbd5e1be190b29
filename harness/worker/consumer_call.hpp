#pragma once

#include <string>

#include "model/entry.hpp"
#include "worker/adapter.hpp"

namespace dlbench::worker {

/// The public call by which a consumer takes the arrays of an exchange: an entry of its PROTOCOLS,
/// or of what its `calls(source, target)` says of these devices.
struct ConsumerCall {
  std::string name;  ///< of the entry: the protocol, or `convert`
  Ref spelled;       ///< as the adapter has it
};

/// Throws Failure: no-protocol where it has no call for that, no-device where there is none.
ConsumerCall call_of(const Library& consumer, const Exchange& exchange);

/// The library's own wait where it has one, else for its device; empty where a result is there at
/// once. Throws Failure.
Ref ready_of(const Library& consumer, const Exchange& exchange);

}  // namespace dlbench::worker

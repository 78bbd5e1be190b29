#pragma once

#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The public call with which a consumer imports the arrays of an exchange: an entry of its
/// PROTOCOLS, or of the result of `calls(source, target)` for these devices.
struct ConsumerCall {
  std::string name;  ///< name of the entry: the protocol, or `convert`
  Ref spelled;       ///< value of the entry
  bool is_own;       ///< no other entry has this value, so it is a call of this protocol alone
};

/// The protocols that a library has a call for.
std::vector<std::string> imports_of(const Library& library);

/// Throws Failure no-protocol if the consumer has no such call, and no-device if the device is
/// missing.
ConsumerCall call_of(const Library& consumer, const Exchange& exchange);

/// The function that waits for a result: a wait for the library's `stream`, otherwise its own
/// `ready`, otherwise a wait for its device. Empty if a result is ready at once. If `stream`
/// raises, `no_stream` receives the reason and the wait is for the device. Throws Failure.
Ref ready_of(const Library& consumer, const Exchange& exchange, std::string& no_stream);

}  // namespace dlbench::worker

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "worker/exchange/prepared.hpp"

/// The worker's answers about ranges and hidden work. Nothing here is timed.
namespace dlbench::worker {

/// Opens the sinks for ranges besides an attached tool: ROCTX where it is installed, and a
/// recorder. Returns the active sinks.
nlohmann::json begin_trace();

/// Makes so many exchanges, each inside its ranges. Returns these as a Chrome trace of the process
/// `process`; `whole` is the reason why none was taken apart, where that is so.
nlohmann::json profile(Prepared& prepared, std::uint64_t times, const std::string& process);

/// The calls of the CUDA driver in one exchange, by kind, and by phase where it can be taken apart;
/// or `why_not`.
nlohmann::json api_calls(Prepared& prepared, const Order& order, const Library& producer);

}  // namespace dlbench::worker

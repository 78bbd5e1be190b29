#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "worker/exchange/prepared.hpp"

/// Records ranges and counts CUDA calls of exchanges. Nothing here is timed.
namespace dlbench::worker {

/// Opens the sinks for ranges besides an attached tool: ROCTX where it is installed, and a
/// recorder. Returns the active sinks.
nlohmann::json begin_trace();

/// Makes `times` exchanges inside ranges. Returns the ranges as a Chrome trace of the process
/// `process`. The key `whole` is why the phases could not be separated.
nlohmann::json profile(Prepared& prepared, std::uint64_t times, const std::string& process);

/// Counts the calls of the CUDA driver in one exchange, by kind, and by phase if the phases can be
/// separated; or returns `why_not`.
nlohmann::json api_calls(Prepared& prepared, const Order& order, const Library& producer);

}  // namespace dlbench::worker

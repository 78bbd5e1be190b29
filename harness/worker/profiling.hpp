#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "worker/exchange/prepared.hpp"

/// What a worker answers of ranges and of hidden work; nothing here is ever timed.
namespace dlbench::worker {

/// Opens what takes ranges besides an attached tool: ROCTX where it is here, and a recorder.
/// Answers which tools listen.
nlohmann::json begin_trace();

/// So many exchanges of this one, each inside its ranges. Answers these as a Chrome trace of the
/// process `process`; `whole` says why none was taken apart, where that is so.
nlohmann::json profile(Prepared& prepared, std::uint64_t times, const std::string& process);

/// The calls of the CUDA driver in one exchange, by kind, and by phase where it can be taken apart;
/// or `why_not`.
nlohmann::json api_calls(Prepared& prepared, const Order& order, const Library& producer);

}  // namespace dlbench::worker

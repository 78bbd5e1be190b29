#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "supervisor/imports/loads.hpp"
#include "supervisor/plan/plan.hpp"
#include "supervisor/process/death.hpp"
#include "supervisor/rounds/task.hpp"

namespace dlbench::supervisor {

/// Builds the requests of the wire (docs/internals.md) and reads the replies.
nlohmann::json request_of(const Load& load);
nlohmann::json prepare_request(const Task& task);
nlohmann::json round_request(const Task& task, const Samples& samples);
nlohmann::json split_request(const Task& task);
nlohmann::json phases_request(const Task& task, std::uint64_t seed);
nlohmann::json judge_request(const Task& task);
nlohmann::json drop_request(const Task& task);

/// Reads the "ok" of prepare or judge. Missing keys leave values unchanged. Throws ProtocolError.
void read_prepared(const nlohmann::json& ok, const std::map<std::string, double>& floors,
                   Task& task);
void read_judged(const nlohmann::json& ok, Task& task);

/// The reply to a round request. Throws ProtocolError unless its times are finite and, on a host's
/// clock, above 0.
struct RoundTime {
  double ns = 0;  ///< on a device's clock without the time of the empty row
  double cpu_ns = 0;
  double canary_ns = 0;  ///< 0 if not measured
  bool moved = false;
  bool preempted = false;
  bool behind = false;
  double empty_ns = 0;  ///< on a device's clock
  double spent_ns = 0;  ///< wall time of the round, if it differs from that of its exchanges
};
RoundTime read_round(const nlohmann::json& ok, const std::string& clock);

/// Reads the "ok" of split: the parts of the phases. Throws ProtocolError.
void read_split(const nlohmann::json& ok, PhaseRounds& phases);

/// Reads the "ok" of phases. Throws ProtocolError if it does not match the split.
PhaseTime read_phases(const nlohmann::json& ok, const PhaseRounds& phases);

/// Reads the content of an "error". Throws ProtocolError.
Failure read_error(const nlohmann::json& error, Outcome otherwise);

}  // namespace dlbench::supervisor

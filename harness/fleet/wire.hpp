#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "fleet/death.hpp"
#include "fleet/loads.hpp"
#include "fleet/task.hpp"
#include "plan/plan.hpp"

namespace dlbench::fleet {

/// The requests of the wire (docs/internals.md), and what is read out of the answers.
nlohmann::json request_of(const Load& load);
nlohmann::json prepare_request(const Task& task);
nlohmann::json round_request(const Task& task, const Samples& samples);
nlohmann::json split_request(const Task& task);
nlohmann::json phases_request(const Task& task, std::uint64_t seed);
nlohmann::json judge_request(const Task& task);
nlohmann::json drop_request(const Task& task);

/// An "ok" of prepare or judge. Keys that are missing leave what was there. Throws Garbage.
void read_prepared(const nlohmann::json& ok, const std::map<std::string, double>& floors,
                   Task& task);
void read_judged(const nlohmann::json& ok, Task& task);

/// A round's answer. Throws Garbage where it is no finite time, or on a host's clock none above 0.
struct RoundTime {
  double ns = 0;  ///< on a device's clock what is left of it without the empty row
  double cpu_ns = 0;
  double canary_ns = 0;  ///< 0 where the worker did not look
  bool moved = false;
  bool preempted = false;
  bool behind = false;
  double empty_ns = 0;  ///< on a device's clock
  double spent_ns = 0;  ///< wall time of the round, where it is not that of its exchanges
};
RoundTime read_round(const nlohmann::json& ok, const std::string& clock);

/// An "ok" of split: what the phases are made of. Throws Garbage.
void read_split(const nlohmann::json& ok, PhaseRounds& phases);

/// An "ok" of phases. Throws Garbage where it is not what the split was made of.
PhaseTime read_phases(const nlohmann::json& ok, const PhaseRounds& phases);

/// The content of an "error". Throws Garbage.
Trouble read_error(const nlohmann::json& error, Outcome otherwise);

}  // namespace dlbench::fleet

#pragma once

#include <nlohmann/json.hpp>

#include "worker/floors.hpp"
#include "worker/prepared.hpp"
#include "worker/watch.hpp"

/// What was found, as the fleet reads it on the wire.
namespace dlbench::worker {

nlohmann::json to_json(const Judgement& judgement);
nlohmann::json to_json(const Seen& seen);
nlohmann::json to_json(const WhoWaits& found);
nlohmann::json to_json(const WorkerFloors& floors);
nlohmann::json to_json(const measure::Reading& reading, const Disturbance& disturbance);
nlohmann::json to_json(const std::vector<FrameNode>& frames);
nlohmann::json to_json(const Tape& calls);
nlohmann::json to_json(const PhaseReading& reading);
nlohmann::json to_json(const Failure& failure);

}  // namespace dlbench::worker

#pragma once

#include <nlohmann/json.hpp>

#include "measure/round.hpp"
#include "worker/base/frames.hpp"
#include "worker/exchange/captured_exchange.hpp"
#include "worker/exchange/exchange_phases.hpp"
#include "worker/exchange/synchronization.hpp"
#include "worker/judge/judging.hpp"
#include "worker/timing/floors.hpp"
#include "worker/timing/watch.hpp"

/// Results as JSON in the form of the wire.
namespace dlbench::worker {

nlohmann::json to_json(const Judgement& judgement);
nlohmann::json to_json(const Observation& observed);
nlohmann::json to_json(const CaptureFound& found);
nlohmann::json to_json(const Ordering& one);
nlohmann::json to_json(const SyncTrial& trial);
nlohmann::json to_json(const WorkerFloors& floors);
nlohmann::json to_json(const measure::Reading& reading, const Disturbance& disturbance);
nlohmann::json to_json(const std::vector<FrameNode>& frames);
nlohmann::json to_json(const Recording& calls);
nlohmann::json to_json(const PhaseReading& reading, const Disturbance& disturbance);
nlohmann::json to_json(const Failure& failure);

}  // namespace dlbench::worker

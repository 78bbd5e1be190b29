#pragma once

#include <string>

#include "fleet/loads.hpp"
#include "fleet/task.hpp"

namespace dlbench::fleet {

/// The last request to a worker, which explains its end.
enum class Activity {
  start,
  load,
  floors,
  device_floors,
  device_memory,
  reference,
  exchange,
  phases,
  drop
};

struct CurrentWork {
  Activity activity = Activity::start;
  Task* task = nullptr;  ///< of an exchange, and of its phases
};

/// "torch imported numpy's array": `step` is the last that the worker announced.
std::string describe(const CurrentWork& current_work, const Loads& loads, const std::string& step);

}  // namespace dlbench::fleet

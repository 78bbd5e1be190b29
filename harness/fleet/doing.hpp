#pragma once

#include <string>

#include "fleet/loads.hpp"
#include "fleet/task.hpp"

namespace dlbench::fleet {

/// What a worker was asked for last, by which its end is understood.
enum class Doing {
  start,
  load,
  floors,
  device_floors,
  device_memory,
  anchor,
  exchange,
  phases,
  drop
};

struct AtHand {
  Doing doing = Doing::start;
  Task* task = nullptr;  ///< of an exchange, and of its phases
};

/// "torch took numpy's array": `step` is the last that the worker announced.
std::string told(const AtHand& at_hand, const Loads& loads, const std::string& step);

}  // namespace dlbench::fleet

#include "fleet/activity.hpp"

namespace dlbench::fleet {

std::string describe(const CurrentWork& current_work, const Loads& loads, const std::string& step) {
  switch (current_work.activity) {
    case Activity::start:
      return "starting";
    case Activity::load:
      return describe_import(loads);
    case Activity::floors:
      return "measuring the floors";
    case Activity::device_floors:
      return "measuring a device's floors";
    case Activity::device_memory:
      return "reading how much memory of a device is free";
    case Activity::reference:
      return "measuring the reference exchange";
    case Activity::drop:
      return "dropping arrays";
    case Activity::phases:
      return "separating the phases";
    case Activity::exchange:
      break;
  }
  const Exchange& x = current_work.task->exchange;
  if (step == "make") return x.producer + " made an array";
  if (step == "call") return x.consumer + " imported " + x.producer + "'s array";
  if (step == "ready") return "waiting for " + x.consumer + "'s data";
  if (step == "lifetime") return "counting the deleters that " + x.consumer + " called";
  if (step == "recorder") return "recording the requests of " + x.consumer;
  if (step == "values") return "comparing the values";
  if (step == "guard") return x.consumer + " imported " + x.producer + "'s array under guard";
  if (step == "outlive") return "reading the result after " + x.producer + "'s array was dropped";
  if (step == "growth") return "measuring the memory that exchanges leak";
  if (step == "judged") return "between two cells";
  if (step == "calibrate") return "calibrating the timed loop";
  return current_work.task->prepared ? "in the timed loop" : "preparing";
}

}  // namespace dlbench::fleet

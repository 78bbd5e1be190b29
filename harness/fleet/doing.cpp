#include "fleet/doing.hpp"

namespace dlbench::fleet {

std::string told(const AtHand& at_hand, const Loads& loads, const std::string& step) {
  switch (at_hand.doing) {
    case Doing::start:
      return "starting";
    case Doing::load: {
      const std::string before = loads.before_current();
      return "importing " + loads.current().library + " (" + loads.current().role + ")" +
             (before.empty() ? "" : " after " + before);
    }
    case Doing::floors:
      return "measuring the floors";
    case Doing::device_floors:
      return "measuring a device's floors";
    case Doing::device_memory:
      return "reading how much memory of a device is free";
    case Doing::anchor:
      return "measuring the anchor";
    case Doing::drop:
      return "dropping arrays";
    case Doing::phases:
      return "telling the phases apart";
    case Doing::exchange:
      break;
  }
  const Exchange& x = at_hand.task->exchange;
  if (step == "make") return x.producer + " made an array";
  if (step == "call") return x.consumer + " took " + x.producer + "'s array";
  if (step == "ready") return "waiting for " + x.consumer + "'s data";
  if (step == "lifetime") return "counting what " + x.consumer + " gave back";
  if (step == "tap") return "watching what " + x.consumer + " asked for";
  if (step == "values") return "comparing the values";
  if (step == "guard") return x.consumer + " took " + x.producer + "'s array under guard";
  if (step == "outlive") return "reading what outlived " + x.producer + "'s array";
  if (step == "growth") return "counting the memory that exchanges leave behind";
  if (step == "judged") return "between two cells";
  if (step == "calibrate") return "calibrating the timed loop";
  return at_hand.task->prepared ? "in the timed loop" : "preparing";
}

}  // namespace dlbench::fleet

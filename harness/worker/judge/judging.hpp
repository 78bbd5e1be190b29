#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/library/arrays.hpp"

namespace dlbench::worker {

/// What became of one exchange, by looking at both ends of it.
struct Judgement {
  Outcome outcome = Outcome::unproven;
  Evidence evidence;
  std::vector<std::string> changed;
  std::string copied_by;  ///< "producer", "consumer" or empty
  bool late_read = false;
  std::optional<GuardSeen> guard;
  Warnings warnings;
  bool crossed_device = false;
  bool same_bytes = true;  ///< the two ends are as many bytes an element, in all
};

/// Compares what the consumer made of the pool's first array with what that should hold, and where
/// the two lie. The consumer's data must be ready. Throws Failure `wrong` where values differ, or
/// where the consumer wrote into the producer's array. The outcome is left to `conclude`.
Judgement look_at_both_ends(const Pool& pool, const Library& producer, PyObject* result,
                            const Library& consumer);

/// The outcome, by the evidence; warns where it disagrees.
void conclude(Judgement& judgement);

}  // namespace dlbench::worker

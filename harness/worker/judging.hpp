#pragma once

#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/arrays.hpp"

namespace dlbench::worker {

/// What became of one exchange, by looking at both ends of it.
struct Judgement {
  Outcome outcome = Outcome::unproven;
  Evidence evidence;
  std::vector<std::string> changed;
  std::vector<std::string> warnings;
};

/// Compares what the consumer made of the pool's first array with what that should hold, and where
/// the two lie. The consumer's data must be ready. Throws Failure `wrong` where values differ, or
/// where the consumer wrote into the producer's array.
Judgement judge(const Pool& pool, const Library& producer, PyObject* result,
                const Library& consumer);

}  // namespace dlbench::worker

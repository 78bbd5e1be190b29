#pragma once

#include <string>
#include <vector>

#include "exchange/view.hpp"
#include "model/entry.hpp"
#include "worker/adapter.hpp"

namespace dlbench::worker {

/// What became of one exchange, by looking at both ends of it.
struct Judgement {
  Outcome outcome = Outcome::unproven;
  Evidence evidence;
  std::vector<std::string> changed;
  std::vector<std::string> warnings;
};

/// Compares the consumer's array with what the case should hold, and where it lies with where the
/// producer's lies. The consumer's data must be ready. Throws Failure `wrong` where values differ.
Judgement judge(PyObject* source, const Library& producer, PyObject* result,
                const Library& consumer, const exchange::View& expected);

}  // namespace dlbench::worker

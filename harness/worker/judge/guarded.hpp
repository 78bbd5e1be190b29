#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exchange/guard/guard.hpp"
#include "model/entry.hpp"
#include "worker/arrays/read.hpp"

namespace dlbench::worker {

/// The memory of the producer's array, kept alive. Empty if a guard cannot watch it: on a device,
/// without a whole page, or with another address in each export.
std::optional<Held> place_to_guard(PyObject* source, const Library& producer);

/// The observations of the guard from the consumer's call to the release of the result.
struct Guarded {
  Proof word = Proof::skipped;  ///< yes: no page was read; no: all were
  GuardCounts observed;
  std::uint64_t in_export = 0;  ///< pages read by the producer's own code
  Warnings warnings;
};

/// The steps of one exchange under a guard.
struct Steps {
  std::function<Ref()> call;
  std::function<void(PyObject*)> wait;             ///< until the data is ready
  std::function<Held(PyObject*)> place;            ///< the result's memory
  std::function<Held(PyObject*)> values;           ///< the result's values
  std::function<void(PyObject*)> judge = nullptr;  ///< judges the result after the guard
};

/// Makes one exchange under the page guard. Throws Failure if a step raises, possibly because of
/// the guard, and GuardError if the memory cannot be watched.
Guarded exchange_guarded(const exchange::View& source, const Steps& steps,
                         std::size_t most_pages = exchange::Guard::kMostPages);

}  // namespace dlbench::worker

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exchange/guard.hpp"
#include "model/entry.hpp"
#include "worker/library/read.hpp"

namespace dlbench::worker {

/// Where the producer's array lies, held alive; empty where it has no memory that a guard could
/// watch: on a device, without a whole page, or another memory each time it is asked for.
std::optional<Held> place_to_guard(PyObject* source, const Library& producer);

/// What a guard saw from the consumer's call to the release of what it returned.
struct Guarded {
  Proof word = Proof::skipped;  ///< yes: no page was read; no: all were
  GuardSeen seen;
  std::uint64_t in_export = 0;  ///< pages read by the producer's own code
  Warnings warnings;
};

/// The steps of one exchange that a guard looks at.
struct Steps {
  std::function<Ref()> call;
  std::function<void(PyObject*)> wait;             ///< until the data is there
  std::function<Held(PyObject*)> place;            ///< where the result lies
  std::function<Held(PyObject*)> values;           ///< what it holds
  std::function<void(PyObject*)> judge = nullptr;  ///< looks at the result without a guard
};

/// One exchange with the source's pages taken away. Throws Failure where a step raises, which may
/// be the guard's doing, and GuardError where nothing can be watched.
Guarded cross_guarded(const exchange::View& source, const Steps& steps,
                      std::size_t most_pages = exchange::Guard::kMostPages);

}  // namespace dlbench::worker

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/warning.hpp"
#include "worker/library/arrays.hpp"
#include "worker/proxy/proxy.hpp"

namespace dlbench::worker {

/// What one exchange showed of the life of what was exported.
struct Lifetime {
  bool deleted_twice = false;
  Warnings warnings;
};

/// The array that is exported: a pool's first.
struct Lender {
  const Pool& pool;
  PyObject* asked = nullptr;  ///< what answers for it
  Shown shown = 0;            ///< what a proxy shows of that
  const Library& producer;
};

/// Makes one exchange of the array, behind a proxy, with borrowed tensors whose deleters count.
/// `cross` imports an object and waits for its data; it throws a Failure where the consumer
/// refuses: then nothing is said. A deleter has half a second to come, since some come from other
/// threads.
Lifetime look_at_lifetime(const Lender& lender, const Library& consumer,
                          const std::function<Ref(PyObject*)>& cross);

}  // namespace dlbench::worker

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/warning.hpp"
#include "worker/library/arrays.hpp"
#include "worker/proxy/proxy.hpp"

namespace dlbench::worker {

/// What one exchange showed of the lifetime of its export.
struct Lifetime {
  bool deleted_twice = false;
  Warnings warnings;
};

/// The exported array: the first of a pool.
struct ExportSource {
  const Pool& pool;
  PyObject* asked = nullptr;  ///< the object that answers requests for it
  Shown shown = 0;            ///< what a proxy shows of that object
  const Library& producer;
};

/// Makes one exchange of the array, through a proxy, with borrowed tensors whose deleters count.
/// `cross` imports an object and waits for its data; it throws a Failure where the consumer
/// refuses, and nothing is then reported. It waits half a second for a deleter, since some run on
/// other threads.
Lifetime look_at_lifetime(const ExportSource& source, const Library& consumer,
                          const std::function<Ref(PyObject*)>& cross);

}  // namespace dlbench::worker

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/round.hpp"
#include "model/warning.hpp"
#include "worker/arrays/arrays.hpp"
#include "worker/proxy/proxy.hpp"

namespace dlbench::worker {

/// The observations of the lifetime of an export.
struct Lifetime {
  bool deleted_twice = false;
  Warnings warnings;
};

/// The exported array: the first of a pool.
struct ExportSource {
  const Pool& pool;
  PyObject* exporter = nullptr;  ///< the object that exports it
  Shown shown = 0;               ///< the protocols that a proxy offers for that object
  const Library& producer;
};

/// Makes one exchange of the array through a proxy, with borrowed tensors that count the calls of
/// their deleters. `import` imports an object and waits for its data. A Failure of `import` is not
/// reported. Waits half a second for a deleter, because some run on other threads.
Lifetime observe_lifetime(const ExportSource& source, const Library& consumer,
                          const std::function<Ref(PyObject*)>& import);

/// The bytes of the C heap that each call leaves allocated: the minimum of three blocks of `calls`
/// calls, which excludes caches and pools that are filled once. 0 if a block leaves less than 16
/// bytes for each call, if a call fails, or if the C library does not report the size of the heap.
double bytes_left_behind(measure::Body body, std::uint64_t calls);

}  // namespace dlbench::worker

#pragma once

#include <string>
#include <vector>

#include "worker/adapter.hpp"

namespace dlbench::worker {

/// What an array carries beside its values, as its library's `extras(array)` says: unit, mask,
/// index, labels, grad, nulls, sparsity. Nothing where no adapter says anything. Throws Failure.
std::vector<std::string> extras_of(PyObject* array, const Library& library);

/// What the source carries and the result does not. Where the result, or what it holds, is of the
/// source's own type, it is also asked in the producer's words. Throws Failure.
std::vector<std::string> dropped(PyObject* source, const Library& producer, PyObject* result,
                                 const Library& consumer);

}  // namespace dlbench::worker

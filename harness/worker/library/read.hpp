#pragma once

#include "worker/library/adapter.hpp"
#include "worker/library/described.hpp"

namespace dlbench::worker {

/// The memory of a library's array: read_array of the array, or of the result of the library's
/// `memory(array)`. `address(array)` overrides the address, since an export may copy, unless it
/// returns None. With an `address`, `values(array)` describes an array that nothing else can read.
/// Throws Failure.
Held read_place(PyObject* array, const Library& library);

/// The values of an array: the same, except for libraries with a `values` function; for device
/// memory a copy that the host can read.
Held read_values(PyObject* array, const Library& library);

}  // namespace dlbench::worker

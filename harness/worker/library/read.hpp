#pragma once

#include "worker/library/adapter.hpp"
#include "worker/library/described.hpp"

namespace dlbench::worker {

/// Where a library's array lies: as read_array, of the array or of what the library's
/// `memory(array)` returns. `address(array)` overrides the address, since an export may copy,
/// unless it returns None; with it an array that nothing reads is as `values(array)` says. Throws
/// Failure.
Held read_place(PyObject* array, const Library& library);

/// What an array holds: the same, but for libraries with a `values` of their own; of a device's
/// memory a copy that the host can read.
Held read_values(PyObject* array, const Library& library);

}  // namespace dlbench::worker

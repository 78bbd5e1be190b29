#pragma once

#include "worker/arrays/described.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The memory of a library's array: read_array() of the array, or of the library's `memory(array)`.
/// `address(array)` overrides the address unless it returns None, because an export may copy; an
/// export that is seen to copy has no place. With an address, `values(array)` describes an array
/// that no protocol can read. Throws Failure.
Held read_place(PyObject* array, const Library& library);

/// writable_of() the array and of the library's `memory(array)`, for memory at that address.
Writable writable_place(PyObject* array, const Library& library, std::uintptr_t address);

/// The values of an array, from the library's `values` function or from its memory; for device
/// memory a copy that the host can read.
Held read_values(PyObject* array, const Library& library);

}  // namespace dlbench::worker

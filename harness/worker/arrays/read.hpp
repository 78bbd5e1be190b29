#pragma once

#include <string>

#include "model/cell.hpp"
#include "worker/arrays/described.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The memory of a library's array: read_array() of the array, or of the library's `memory(array)`.
/// `address(array)` overrides the address unless it returns None, because an export may copy; an
/// export that is seen to copy has no place. With an address, `values(array)` describes an array
/// that no protocol can read. Throws Failure.
Held read_place(PyObject* array, const Library& library);

/// Is the array on this device of the exchange? The driver knows the memory of an address. Only
/// without the driver's answer the array's `__dlpack_device__` counts. Neither an unknown place nor
/// pinned and managed memory, which are on both sides, is held against it. Throws Failure
/// no-device.
void require_device(const std::string& device, const Exchange& exchange, PyObject* array,
                    const Library& library);

/// writable_of() the array and of the library's `memory(array)`, for memory at that address.
Writable writable_place(PyObject* array, const Library& library, std::uintptr_t address);

/// The values of an array, from the library's `values` function or from its memory; for device
/// memory a copy that the host can read.
Held read_values(PyObject* array, const Library& library);

}  // namespace dlbench::worker

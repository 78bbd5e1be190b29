#pragma once

#include <dlpack/dlpack.h>

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject taken_type;
bool ready_taken_type();

/// A Python object that owns the tensor; it is deleted where that fails.
PyObject* own(DLManagedTensorVersioned* managed);
PyObject* own(DLManagedTensor* managed);

/// take(capsule): as a consumer takes it.
PyObject* take_capsule(PyObject*, PyObject* capsule);

/// What a Taken owns, given up by it; null with an exception set where it is of the legacy struct.
DLManagedTensorVersioned* give_up_versioned(PyObject* taken);

}  // namespace dlbench::check

#pragma once

#include <dlpack/dlpack.h>

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject taken_type;
bool ready_taken_type();

/// Makes a Python object that owns the tensor. Deletes the tensor where that fails.
PyObject* own(DLManagedTensorVersioned* managed);
PyObject* own(DLManagedTensor* managed);

/// take(capsule): imports the capsule as a consumer does.
PyObject* take_capsule(PyObject*, PyObject* capsule);

}  // namespace dlbench::check

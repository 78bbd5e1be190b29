#pragma once

#include <dlpack/dlpack.h>

#include "check/python.hpp"

namespace dlbench::check {

inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kLegacyName = "dltensor";

/// The fields as a dict of plain Python values, without judgment. `shape` is None where ndim is
/// absurd, `strides` where the pointer is NULL. Null with an exception set.
PyObject* facts_of(const DLTensor& tensor);
PyObject* facts_of(const DLManagedTensor& managed);
/// For another major version only the fields before the tensor: the meaning of the others is
/// unknown.
PyObject* facts_of(const DLManagedTensorVersioned& managed);

/// read(capsule): the fields of a capsule's content, consumed or not.
PyObject* read_capsule(PyObject*, PyObject* capsule);

/// gather(address, shape, strides, itemsize): the elements' bytes in C order; strides in bytes or
/// None.
PyObject* gather(PyObject*, PyObject* arguments);

}  // namespace dlbench::check

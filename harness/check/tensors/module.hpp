#pragma once

#include <dlpack/dlpack.h>

#include "check/tensors/python.hpp"

/// The types and functions of the module.
namespace dlbench::check {

inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kLegacyName = "dltensor";

/// The fields as a dict of plain Python values, unchecked. `shape` is None if ndim is impossible,
/// `strides` if the pointer is NULL. Null with an exception set.
PyObject* facts_of(const DLTensor& tensor);
PyObject* facts_of(const DLManagedTensor& managed);
/// For another major version only the fields before the tensor, because the meaning of the others
/// is unknown.
PyObject* facts_of(const DLManagedTensorVersioned& managed);

/// read(capsule): the fields of the content of a capsule, consumed or not.
PyObject* read_capsule(PyObject*, PyObject* capsule);

/// gather(address, shape, strides, itemsize): the bytes of the elements in C order. Strides are in
/// bytes, or None.
PyObject* gather(PyObject*, PyObject* arguments);

extern PyTypeObject borrowed_type;
bool ready_borrowed_type();

/// A versioned managed tensor of a BorrowedTensor, owned by the caller. Null with an exception set
/// if the object is not a BorrowedTensor with a versioned struct.
DLManagedTensorVersioned* export_versioned(PyObject* borrowed);

/// The tensor that a BorrowedTensor describes; it lives as long as the BorrowedTensor.
const DLTensor* tensor_of(PyObject* borrowed);

extern PyTypeObject imported_type;
bool ready_imported_type();

/// Makes a Python object that owns the tensor. Deletes the tensor if that fails.
PyObject* own(DLManagedTensorVersioned* managed);
PyObject* own(DLManagedTensor* managed);

/// take(capsule): imports the capsule as a consumer does.
PyObject* import_capsule(PyObject*, PyObject* capsule);

extern PyTypeObject buffered_type;
bool ready_buffered_type();

/// get_buffer(x, flags): the fields of the Py_buffer, and `held`, which owns it.
PyObject* get_buffer(PyObject*, PyObject* arguments);

/// read_struct(capsule): the fields of an `__array_struct__`.
PyObject* read_struct(PyObject*, PyObject* capsule);

/// make_struct(...): a capsule with an `__array_struct__`.
PyObject* make_struct(PyObject*, PyObject* arguments);

extern PyTypeObject api_type;
bool ready_api_type();

/// make_api(callbacks, ...): a table whose functions call Python; only one in a process.
PyObject* make_api(PyObject*, PyObject* arguments, PyObject* keywords);

}  // namespace dlbench::check

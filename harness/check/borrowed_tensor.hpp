#pragma once

#include <dlpack/dlpack.h>

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject borrowed_type;
bool ready_borrowed_type();

/// A versioned managed tensor of a BorrowedTensor. The caller owns it. Null with an exception set
/// where the object is no BorrowedTensor of a versioned struct.
DLManagedTensorVersioned* export_versioned(PyObject* borrowed);

/// The tensor that a BorrowedTensor describes; it lives as long as the BorrowedTensor.
const DLTensor* tensor_of(PyObject* borrowed);

}  // namespace dlbench::check

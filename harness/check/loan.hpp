#pragma once

#include <dlpack/dlpack.h>

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject loan_type;
bool ready_loan_type();

/// A versioned managed tensor of a Loan, owned by who gets it; null with an exception set where the
/// object is no Loan of a versioned struct.
DLManagedTensorVersioned* lend_versioned(PyObject* loan);

/// The tensor that a Loan describes; it lives as long as the Loan.
const DLTensor* tensor_of(PyObject* loan);

}  // namespace dlbench::check

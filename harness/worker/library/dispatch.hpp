#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The function of NumPy's by which a protocol of dispatch is seen at work: `multiply` asks an
/// array's `__array_ufunc__` (NEP 13), `concatenate` its `__array_function__` (NEP 18).
std::string dispatching(const std::string& protocol);

/// Does the type override NumPy's functions by this protocol, or does NumPy convert its arrays?
bool overrides(PyTypeObject* type, const std::string& protocol);

/// What the result of such a function lost of the array: "type" where it is of another type, and
/// the array's extras that it does not carry. Throws Failure.
std::vector<std::string> lost(PyObject* array, PyObject* result, const Library& library);

/// What becomes of an array x under `multiply(x, x)` or `concatenate([x, x])`: "kept" where the
/// result is of the array's own type and carries all that it did, else the result's type and what
/// was dropped, or the exception. Throws Failure without NumPy.
std::string look_at_dispatch(const std::string& function, PyObject* array, const Library& library);

/// The same by function.
std::map<std::string, std::string> look_at_dispatch(PyObject* array, const Library& library);

}  // namespace dlbench::worker

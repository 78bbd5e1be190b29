#pragma once

#include <map>
#include <string>

#include "worker/adapter.hpp"

namespace dlbench::worker {

/// What becomes of an array under NumPy's own functions, by function: `multiply` asks its
/// `__array_ufunc__` (NEP 13), `concatenate` its `__array_function__` (NEP 18); without those NumPy
/// converts it. "kept" where the result is of the array's own type and carries all that it did,
/// else the result's type and what was dropped, or the exception. Throws Failure without NumPy.
std::map<std::string, std::string> look_at_dispatch(PyObject* array, const Library& library);

}  // namespace dlbench::worker

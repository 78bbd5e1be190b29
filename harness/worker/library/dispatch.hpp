#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The NumPy function that tests a protocol of dispatch: `multiply` calls an array's
/// `__array_ufunc__` (NEP 13), `concatenate` its `__array_function__` (NEP 18).
std::string dispatching(const std::string& protocol);

/// Does the type override NumPy's functions by this protocol? Else NumPy converts its arrays.
bool overrides(PyTypeObject* type, const std::string& protocol);

/// What the result of such a function lost: "type" where it has another type, and the array's
/// extras that it does not carry. Throws Failure.
std::vector<std::string> lost(PyObject* array, PyObject* result, const Library& library);

/// What NumPy's function makes of an array.
struct Dispatched {
  /// "kept" where the result has the array's own type and all its extras; else the result's type
  /// and the dropped extras, or what was raised: "TypeError: text".
  std::string became;
  std::string exception;  ///< the type of what was raised; empty where nothing was
};

/// The result of `multiply(x, x)` or `concatenate([x, x])` for an array x. Throws Failure without
/// NumPy.
Dispatched look_at_dispatch(const std::string& function, PyObject* array, const Library& library);

/// What became of the array, by function.
std::map<std::string, std::string> look_at_dispatch(PyObject* array, const Library& library);

}  // namespace dlbench::worker

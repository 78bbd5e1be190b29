#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The NumPy function that tests a dispatch protocol: `multiply` calls an array's `__array_ufunc__`
/// (NEP 13), `concatenate` calls its `__array_function__` (NEP 18).
std::string dispatching(const std::string& protocol);

/// Does the type override NumPy's functions through this protocol? Otherwise NumPy converts its
/// arrays.
bool overrides(PyTypeObject* type, const std::string& protocol);

/// What the result of such a function lost: "type" if its type differs, and the extras of the array
/// that it lacks. Throws Failure.
std::vector<std::string> lost(PyObject* array, PyObject* result, const Library& library);

/// The result of NumPy's function on an array.
struct Dispatched {
  /// "kept" if the result has the array's own type and all its extras; otherwise the result's type
  /// and the dropped extras, or the exception: "TypeError: text".
  std::string became;
  std::string exception;  ///< the type of the exception, if any
};

/// Describes the result of `multiply(x, x)` or `concatenate([x, x])` for an array x. Throws Failure
/// without NumPy.
Dispatched describe_dispatch(const std::string& function, PyObject* array, const Library& library);

/// `became`, by function.
std::map<std::string, std::string> describe_dispatch(PyObject* array, const Library& library);

}  // namespace dlbench::worker

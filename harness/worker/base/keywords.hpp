#pragma once

#include <algorithm>
#include <initializer_list>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The first keyword of a call that a method does not accept, borrowed, or null. None counts as
/// absent: a method that accepts more than one keyword passes such a keyword on.
inline PyObject* unknown_keyword(PyObject* const* values, PyObject* names,
                                 std::initializer_list<const char*> known) {
  const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const auto is = [name](const char* word) {
      return PyUnicode_CompareWithASCIIString(name, word) == 0;
    };
    if (std::any_of(known.begin(), known.end(), is)) continue;
    if (values[i] != Py_None || known.size() == 1) return name;
  }
  return nullptr;
}

/// The TypeError of an old producer for an unknown argument. Complete texts, since a consumer may
/// get one in every timed exchange, and formatting costs some 20 ns for each part.
inline constexpr const char* kUnknownToDlpack =
    "__dlpack__() got an unexpected keyword argument '%U'";
inline constexpr const char* kUnknownToArray =
    "__array__() got an unexpected keyword argument '%U'";

/// The argument of a `__dlpack__` call that producers before DLPack 1.0 do not accept, or null.
inline PyObject* unknown_to_legacy(PyObject* const* values, PyObject* names) {
  return unknown_keyword(values, names, {"stream"});
}

inline void refuse_keyword(const char* text, PyObject* name) {
  PyErr_Format(PyExc_TypeError, text, name);
}

}  // namespace dlbench::worker

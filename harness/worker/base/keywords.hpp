#pragma once

#include <algorithm>
#include <initializer_list>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The first keyword argument that is not in `known`, borrowed, or null. If more than one keyword
/// is known, an unknown keyword with the value None is ignored, because such methods pass it on.
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

/// The messages of the TypeError that an old producer raises for an unknown argument. They have one
/// part to format, because a consumer may cause one in every timed exchange, and each part costs
/// about 20 ns.
inline constexpr const char* kUnknownToDlpack =
    "__dlpack__() got an unexpected keyword argument '%U'";
inline constexpr const char* kUnknownToArray =
    "__array__() got an unexpected keyword argument '%U'";

/// The first argument of a `__dlpack__` call that producers before DLPack 1.0 do not accept, or
/// null.
inline PyObject* unknown_to_legacy(PyObject* const* values, PyObject* names) {
  return unknown_keyword(values, names, {"stream"});
}

inline void refuse_keyword(const char* text, PyObject* name) {
  PyErr_Format(PyExc_TypeError, text, name);
}

}  // namespace dlbench::worker

#pragma once

#include <algorithm>
#include <initializer_list>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The first of a call's keywords that a method does not know, borrowed, or null. None is no wish:
/// a method that knows more than one leaves such a keyword to whoever answers.
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

/// What a producer of old says to an argument that it does not know. Whole texts, since a consumer
/// may be told so in every exchange that is timed, and each part put in costs some 20 ns.
inline constexpr const char* kUnknownToDlpack =
    "__dlpack__() got an unexpected keyword argument '%U'";
inline constexpr const char* kUnknownToArray =
    "__array__() got an unexpected keyword argument '%U'";

/// Of a call of `__dlpack__`: what producers before DLPack 1.0 do not know, or null.
inline PyObject* unknown_to_legacy(PyObject* const* values, PyObject* names) {
  return unknown_keyword(values, names, {"stream"});
}

inline void refuse_keyword(const char* text, PyObject* name) {
  PyErr_Format(PyExc_TypeError, text, name);
}

}  // namespace dlbench::worker

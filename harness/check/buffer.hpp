#pragma once

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject buffered_type;
bool ready_buffered_type();

/// get_buffer(x, flags): the facts of the Py_buffer, which `held` keeps.
PyObject* get_buffer(PyObject*, PyObject* arguments);

/// read_struct(capsule): the facts of an `__array_struct__`.
PyObject* read_struct(PyObject*, PyObject* capsule);

/// make_struct(facts, keep): such a capsule.
PyObject* make_struct(PyObject*, PyObject* arguments);

}  // namespace dlbench::check

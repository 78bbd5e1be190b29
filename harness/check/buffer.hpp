#pragma once

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject buffered_type;
bool ready_buffered_type();

/// get_buffer(x, flags): the fields of the Py_buffer. `held` keeps it.
PyObject* get_buffer(PyObject*, PyObject* arguments);

/// read_struct(capsule): the fields of an `__array_struct__`.
PyObject* read_struct(PyObject*, PyObject* capsule);

/// make_struct(facts, keep): a capsule of that kind.
PyObject* make_struct(PyObject*, PyObject* arguments);

}  // namespace dlbench::check

#pragma once

#include "check/python.hpp"

namespace dlbench::check {

extern PyTypeObject api_type;
bool ready_api_type();

/// make_api(callbacks, ...): a table whose functions call Python; only one in a process.
PyObject* make_api(PyObject*, PyObject* arguments, PyObject* keywords);

}  // namespace dlbench::check

#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace dlbench {

/// Sets a pending exception aside while foreign code runs, and restores it at the end of the scope.
/// Needs the GIL.
class PendingError {
 public:
  PendingError() {
    if (PyErr_Occurred() != nullptr) [[unlikely]]
      PyErr_Fetch(&type_, &value_, &trace_);
  }
  PendingError(const PendingError&) = delete;
  PendingError& operator=(const PendingError&) = delete;
  ~PendingError() {
    if (type_ != nullptr) [[unlikely]]
      PyErr_Restore(type_, value_, trace_);
  }

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* trace_ = nullptr;
};

}  // namespace dlbench

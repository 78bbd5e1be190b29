#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <utility>

#include "model/failure.hpp"

namespace dlbench::worker {

/// Owns one reference.
class Ref {
 public:
  Ref() = default;
  static Ref steal(PyObject* object) { return Ref(object); }
  static Ref borrow(PyObject* object) { return Ref(Py_XNewRef(object)); }
  Ref(const Ref& other) : object_(Py_XNewRef(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// Fetches the pending Python exception and clears it. MemoryError becomes out-of-memory,
/// Unsupported becomes unsupported, every other type `otherwise`.
Failure fetch_failure(Outcome otherwise = Outcome::refused);

/// Returns a new reference, or throws the pending exception as a Failure.
inline Ref checked(PyObject* result) {
  if (result == nullptr) throw fetch_failure();
  return Ref::steal(result);
}

/// "TypeError: expected an array"; the reason alone if no exception was raised.
std::string message_of(const Failure& failure);

/// The attribute, or an empty Ref if it is missing. Throws Failure for other exceptions.
Ref optional_attribute(PyObject* object, const char* name);

/// An attribute of dlbench.adapter: `Call`, `Capsule` or `X`. Borrowed; valid for
/// the life of the process.
PyObject* adapter_attribute(const char* name);

/// str(object), "?" where that fails.
std::string text_of(PyObject* object);

/// repr(object), "?" where that fails.
std::string repr_of(PyObject* object);

/// Does the interpreter run with the GIL now? In a free-threaded Python, importing a library that
/// does not support this enables the GIL for the rest of the process.
bool has_gil();

/// The result of has_gil() at the first call, which the worker makes before it imports any library.
bool had_gil_at_start();

}  // namespace dlbench::worker

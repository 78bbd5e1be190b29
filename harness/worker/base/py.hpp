#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <map>
#include <string>
#include <utility>

#include "model/outcome.hpp"

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

/// Why an exchange has no number: outcome, code and reason of the cell.
struct Failure {
  Outcome outcome = Outcome::refused;
  std::string exception;  ///< the type's name; empty where no exception was raised
  std::string reason;     ///< one line
  std::string code{};     ///< of model/codes.hpp, or empty: nothing finer than the outcome is known
  std::map<std::string, std::string> data{};  ///< values for the names in the code's meaning
};

/// Fetches the pending Python exception and clears it. MemoryError becomes out-of-memory,
/// Unsupported becomes unsupported, every other type `otherwise`.
Failure fetch_failure(Outcome otherwise = Outcome::refused);

/// Returns a new reference, or throws the pending exception as a Failure.
inline Ref checked(PyObject* result) {
  if (result == nullptr) throw fetch_failure();
  return Ref::steal(result);
}

/// "TypeError: expected an array"; the reason alone where no exception was raised.
std::string words_of(const Failure& failure);

/// The attribute, or an empty Ref where it is missing. Other errors are thrown.
Ref optional_attribute(PyObject* object, const char* name);

/// Definitions of dlbench.adapter: `Call`, `Capsule`, `Unsupported`, `X`. Borrowed, valid for the
/// process.
PyObject* adapter_word(const char* name);

/// str(object), "?" where that fails.
std::string text_of(PyObject* object);

/// repr(object), "?" where that fails.
std::string repr_of(PyObject* object);

}  // namespace dlbench::worker

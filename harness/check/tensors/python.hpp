#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "exchange/layout.hpp"
#include "exchange/python/objects.hpp"

namespace dlbench::check {

/// Foreign sizes or strides as a tuple; None if the pointer is NULL or the number of axes is
/// impossible.
template <typename Integer>
PyObject* sizes_of(const Integer* values, std::int64_t axes) {
  if (values == nullptr || axes < 0 || axes > exchange::kMostDimensions) {
    Py_RETURN_NONE;
  }
  const std::vector<std::int64_t> copy(values, values + axes);
  return tuple_of<std::int64_t>(copy);
}

/// False with an exception set unless `object` is a sequence of ints.
inline bool read_ints(PyObject* object, std::vector<std::int64_t>& values) {
  const Ref sequence(PySequence_Fast(object, "a sequence of ints is required"));
  if (!sequence) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.get()); ++i) {
    values.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(sequence.get(), i)));
  }
  return PyErr_Occurred() == nullptr;
}

/// The address in a Python int; null with an exception set, also for 0.
inline void* read_address(PyObject* number) {
  return PyLong_AsVoidPtr(number);
}

/// `guarded<&function>` calls the function and converts C++ exceptions to Python exceptions.
template <auto function>
struct Guarded;
template <typename Result, typename... Arguments, Result (*function)(Arguments...)>
struct Guarded<function> {
  static Result call(Arguments... arguments) noexcept {
    try {
      return function(arguments...);
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const exchange::ViewError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_SystemError, error.what());
    }
    if constexpr (std::is_pointer_v<Result>) {
      return nullptr;
    } else {
      return -1;
    }
  }
};
template <auto function>
inline constexpr auto* guarded = &Guarded<function>::call;

inline PyMethodDef keyword_method(const char* name, PyCFunctionWithKeywords function,
                                  const char* doc, int flags = 0) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_VARARGS | METH_KEYWORDS | flags, doc};
}

}  // namespace dlbench::check

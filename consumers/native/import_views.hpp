#pragma once

#include "facts.hpp"

namespace dlbench::native {

/// from_buffer(x)
inline PyObject* from_buffer(PyObject*, PyObject* x) {
  Array* array = new_array(Via::kBuffer);
  if (array == nullptr) return nullptr;
  if (PyObject_GetBuffer(x, &array->buffer, PyBUF_FULL_RO) != 0) {
    free_list.push(&array->ob_base);
    return nullptr;
  }
  if (array->buffer.suboffsets != nullptr) {
    Py_DECREF(&array->ob_base);
    PyErr_SetString(PyExc_BufferError, "native does not support suboffsets");
    return nullptr;
  }
  return &array->ob_base;
}

inline PyObject* hold(Via via, PyObject* x, Ref capsule, std::unique_ptr<Facts> facts) {
  Array* array = new_array(via);
  if (array == nullptr) return nullptr;
  array->facts = facts.release();
  array->owner = {Py_NewRef(x), capsule.release()};
  return &array->ob_base;
}

/// from_array_struct(x)
inline PyObject* from_array_struct(PyObject*, PyObject* x) {
  static PyObject* const name = PyUnicode_InternFromString("__array_struct__");
  Ref capsule(PyObject_GetAttr(x, name));
  if (!capsule) return nullptr;
  const void* content =
      PyCapsule_CheckExact(capsule.get()) ? PyCapsule_GetPointer(capsule.get(), nullptr) : nullptr;
  if (content == nullptr || static_cast<const ArrayStruct*>(content)->two != 2) {
    PyErr_Clear();
    PyErr_SetString(PyExc_BufferError, "__array_struct__ is not a capsule of a PyArrayInterface");
    return nullptr;
  }
  return hold(Via::kStruct, x, std::move(capsule), nullptr);
}

inline bool read_integers(PyObject* tuple, std::vector<std::intptr_t>& values) {
  if (tuple == nullptr || !PyTuple_Check(tuple)) return false;
  values.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    values.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i)));
  }
  return !PyErr_Occurred();
}

/// Returns false for a dict that does not follow version 3, possibly with an exception set.
inline bool read_interface(PyObject* dict, Facts& facts) {
  static PyObject* const kData = PyUnicode_InternFromString("data");
  static PyObject* const kShape = PyUnicode_InternFromString("shape");
  static PyObject* const kStrides = PyUnicode_InternFromString("strides");
  static PyObject* const kType = PyUnicode_InternFromString("typestr");
  if (!PyDict_Check(dict)) return false;
  PyObject* data = PyDict_GetItemWithError(dict, kData);
  PyObject* type = PyDict_GetItemWithError(dict, kType);
  if (data != nullptr && PyObject_CheckBuffer(data)) {
    PyErr_SetString(PyExc_BufferError,
                    "native supports only an address as the data of an __array_interface__, not a "
                    "buffer");
    return false;
  }
  if (data == nullptr || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2 || type == nullptr ||
      !PyUnicode_Check(type)) {
    return false;
  }
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(type, &length);
  if (text == nullptr) return false;
  const Dtype* dtype = find_typestr({text, static_cast<std::size_t>(length)});
  if (dtype == nullptr) {
    PyErr_Format(PyExc_BufferError, "native does not support typestr %R", type);
    return false;
  }
  facts.dtype = dtype->name;
  facts.layout.dtype = dtype;
  facts.address = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  const int readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
  facts.layout.readonly = readonly != 0;
  if (readonly < 0 || PyErr_Occurred() ||
      !read_integers(PyDict_GetItemWithError(dict, kShape), facts.layout.shape)) {
    return false;
  }
  PyObject* strides = PyDict_GetItemWithError(dict, kStrides);
  const bool in_c_order = strides == nullptr || strides == Py_None;
  if (!in_c_order && (!read_integers(strides, facts.layout.strides) ||
                      facts.layout.strides.size() != facts.layout.shape.size())) {
    return false;
  }
  if (!is_sound(facts.layout.flaw())) return false;
  if (in_c_order) facts.layout.set_c_strides();
  return true;
}

/// from_array_interface(x)
inline PyObject* from_array_interface(PyObject*, PyObject* x) try {
  static PyObject* const name = PyUnicode_InternFromString("__array_interface__");
  const Ref dict(PyObject_GetAttr(x, name));
  if (!dict) return nullptr;
  auto facts = std::make_unique<Facts>();
  if (!read_interface(dict.get(), *facts)) {
    if (!PyErr_Occurred()) {
      PyErr_Format(PyExc_BufferError, "__array_interface__ does not follow version 3: %R",
                   dict.get());
    }
    return nullptr;
  }
  return hold(Via::kInterface, x, nullptr, std::move(facts));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

}  // namespace dlbench::native

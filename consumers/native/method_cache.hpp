#pragma once

#include "../../producers/native/python.hpp"

namespace dlbench::native {

/// Calls `x.__dlpack__`. It finds the method without a look-up where the last array had the same
/// type and the type has not changed since: CPython gives a changed type a new version tag.
class MethodCache {
 public:
  /// As PyObject_VectorcallMethod, with x in arguments[0] and a slot to spare before it.
  PyObject* call(PyObject* const* arguments, PyObject* keywords) {
    constexpr std::size_t kOnlySelf = 1 | PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyTypeObject* type = Py_TYPE(arguments[0]);
    if (type == type_ && tag_ == tag_of(type)) [[likely]] {
      return vectorcall_(method_, arguments, kOnlySelf, keywords);
    }
    PyObject* result = PyObject_VectorcallMethod(name_, arguments, kOnlySelf, keywords);
    if (result != nullptr) keep(type);
    return result;
  }

  PyObject* name() const { return name_; }
  bool prepare() { return (name_ = PyUnicode_InternFromString("__dlpack__")) != nullptr; }

 private:
  static constexpr unsigned kNone = 0;

  static unsigned tag_of(const PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030B0000
    if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) return kNone;
#endif
    return type->tp_version_tag;
  }

  void keep(PyTypeObject* type) {
    forget();
    // An instance's own dictionary or a __getattr__ may return another method for each array.
    if (type->tp_dictoffset != 0 || type->tp_getattro != PyObject_GenericGetAttr) return;
    Ref method(PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name_));
    if (!method) return PyErr_Clear();
    vectorcall_ = PyVectorcall_Function(method.get());
    tag_ = tag_of(type);
    if (vectorcall_ == nullptr || tag_ == kNone ||
        !PyType_HasFeature(Py_TYPE(method.get()), Py_TPFLAGS_METHOD_DESCRIPTOR)) {
      return;
    }
    method_ = method.release();
    type_ = reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(type)));
  }

  void forget() {
    Py_CLEAR(method_);
    PyObject* type = reinterpret_cast<PyObject*>(type_);
    type_ = nullptr;
    Py_XDECREF(type);
  }

  PyObject* name_ = nullptr;
  PyTypeObject* type_ = nullptr;
  unsigned tag_ = kNone;
  PyObject* method_ = nullptr;
  vectorcallfunc vectorcall_ = nullptr;
};

}  // namespace dlbench::native

#pragma once

#include "../../producers/native/python.hpp"

namespace dlbench::native {

/// Caches the method of the last array's type.
struct LastMethod {
  PyTypeObject* type = nullptr;
  unsigned tag = 0;
  PyObject* method = nullptr;
  vectorcallfunc vectorcall = nullptr;
};

/// Calls `x.__dlpack__`. Skips the lookup of the method if the last array had the same type and the
/// type's version tag has not changed.
class MethodCache {
 public:
  /// Like PyObject_VectorcallMethod, with x in arguments[0] and a free slot before it.
  PyObject* call(PyObject* const* arguments, PyObject* keywords) {
    constexpr std::size_t kOnlySelf = 1 | PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyTypeObject* type = Py_TYPE(arguments[0]);
    if (type == last_.type && last_.tag == tag_of(type)) [[likely]] {
      return last_.vectorcall(last_.method, arguments, kOnlySelf, keywords);
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
    last_.vectorcall = PyVectorcall_Function(method.get());
    last_.tag = tag_of(type);
    if (last_.vectorcall == nullptr || last_.tag == kNone ||
        !PyType_HasFeature(Py_TYPE(method.get()), Py_TPFLAGS_METHOD_DESCRIPTOR)) {
      return;
    }
    last_.method = method.release();
    last_.type = reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(type)));
  }

  void forget() {
    Py_CLEAR(last_.method);
    PyObject* type = reinterpret_cast<PyObject*>(last_.type);
    last_.type = nullptr;
    Py_XDECREF(type);
  }

  PyObject* name_ = nullptr;
  inline static DLBENCH_UNDER_GIL LastMethod last_;
};

}  // namespace dlbench::native

#pragma once

#include "facts.hpp"

namespace dlbench::native {

/// The buffer protocol of what was imported.
inline int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const Facts* facts = facts_of(self);
  if (facts == nullptr) return -1;
  const Layout& layout = facts->layout;
  const auto asks = [flags](int what) { return (flags & what) == what; };
  if ((asks(PyBUF_WRITABLE) && layout.readonly) ||
      ((asks(PyBUF_C_CONTIGUOUS) || !asks(PyBUF_STRIDES)) && !layout.is_c_contiguous()) ||
      (asks(PyBUF_F_CONTIGUOUS) && !layout.is_f_contiguous()) ||
      (asks(PyBUF_ANY_CONTIGUOUS) && !layout.is_c_contiguous() && !layout.is_f_contiguous())) {
    PyErr_SetString(PyExc_BufferError, "the memory is read-only or not contiguous as asked for");
    return -1;
  }
  auto* sizes = reinterpret_cast<Py_ssize_t*>(const_cast<std::intptr_t*>(layout.shape.data()));
  auto* steps = reinterpret_cast<Py_ssize_t*>(const_cast<std::intptr_t*>(layout.strides.data()));
  *view = {.buf = facts->address,
           .obj = Py_NewRef(self),
           .len = layout.elements() * layout.dtype->bytes,
           .itemsize = layout.dtype->bytes,
           .readonly = layout.readonly,
           .ndim = static_cast<int>(layout.shape.size()),
           .format = asks(PyBUF_FORMAT) ? const_cast<char*>(layout.dtype->format) : nullptr,
           .shape = asks(PyBUF_ND) ? sizes : nullptr,
           .strides = asks(PyBUF_STRIDES) ? steps : nullptr,
           .suboffsets = nullptr,
           .internal = nullptr};
  return 0;
}

}  // namespace dlbench::native

#pragma once

#include "array.hpp"

namespace dlbench::native {

inline int refuse_buffer(Py_buffer* view, const char* why) {
  view->obj = nullptr;
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

/// The buffer protocol.
inline int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  static_assert(sizeof(std::intptr_t) == sizeof(Py_ssize_t));
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.line("buffer");
  const Block& block = block_of(self);
  const Layout& layout = block.layout();
  const auto has_flag = [flags](int what) { return (flags & what) == what; };
  if (layout.readonly && has_flag(PyBUF_WRITABLE)) return refuse_buffer(view, "read-only memory");
  const bool c_order = block.is_c_contiguous(), f_order = block.is_f_contiguous();
  if ((has_flag(PyBUF_C_CONTIGUOUS) && !c_order) || (has_flag(PyBUF_F_CONTIGUOUS) && !f_order) ||
      (has_flag(PyBUF_ANY_CONTIGUOUS) && !c_order && !f_order) ||
      (!has_flag(PyBUF_STRIDES) && !c_order)) {
    return refuse_buffer(view, "the memory is not contiguous as requested");
  }
  const ArrayStruct& facts = block.array_struct();
  view->buf = facts.data;
  view->len = layout.elements() * layout.dtype->bytes;
  view->itemsize = layout.dtype->bytes;
  view->readonly = layout.readonly;
  view->ndim = facts.ndim;
  view->format = has_flag(PyBUF_FORMAT) ? const_cast<char*>(layout.dtype->format) : nullptr;
  view->shape = has_flag(PyBUF_ND) ? reinterpret_cast<Py_ssize_t*>(facts.shape) : nullptr;
  view->strides = has_flag(PyBUF_STRIDES) ? reinterpret_cast<Py_ssize_t*>(facts.strides) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  view->obj = Py_NewRef(self);
  return 0;
}

inline PyObject* build_interface(const Block& block) {
  const Layout& layout = block.layout();
  const Ref shape(tuple_of<std::intptr_t>(layout.shape));
  const Ref strides(block.is_c_contiguous() ? Py_NewRef(Py_None)
                                            : tuple_of<std::intptr_t>(layout.strides));
  if (!shape || !strides) return nullptr;
  const char order = layout.dtype->bytes == 1                     ? '|'
                     : std::endian::native == std::endian::little ? '<'
                                                                  : '>';
  const std::string type = std::string{order, layout.dtype->kind} +
                           std::to_string(static_cast<int>(layout.dtype->bytes));
  return Py_BuildValue("{s:i,s:s,s:O,s:O,s:(NO)}", "version", 3, "typestr", type.c_str(), "shape",
                       shape.get(), "strides", strides.get(), "data",
                       PyLong_FromVoidPtr(block.address()), layout.readonly ? Py_True : Py_False);
}

/// `__array_interface__`.
inline PyObject* array_interface(PyObject* self, void*) {
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.line("__array_interface__");
  auto* array = reinterpret_cast<Array*>(self);
  if (array->interface == nullptr) [[unlikely]]
    array->interface = build_interface(*array->block);
  return array->interface == nullptr ? nullptr : PyDict_Copy(array->interface);
}

/// `__array_struct__`. The struct is in the array's block, so the capsule owns a reference to the
/// array.
inline PyObject* array_struct(PyObject* self, void*) {
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.line("__array_struct__");
  auto* facts = const_cast<ArrayStruct*>(&block_of(self).array_struct());
  PyObject* capsule = PyCapsule_New(facts, nullptr, [](PyObject* dying) {
    Py_XDECREF(static_cast<PyObject*>(PyCapsule_GetContext(dying)));
  });
  if (capsule != nullptr) PyCapsule_SetContext(capsule, Py_NewRef(self));
  return capsule;
}

}  // namespace dlbench::native

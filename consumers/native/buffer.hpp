#pragma once

#include "facts.hpp"

namespace dlbench::native {

inline bool is_readable(DLDeviceType type) {
  return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost || type == kDLCUDAManaged;
}

/// The buffer protocol of the imported array.
inline int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const Facts* facts = facts_of(self);
  if (facts == nullptr) return -1;
  if (!is_readable(facts->device.device_type)) {
    PyErr_SetString(PyExc_BufferError, "the host cannot read device memory");
    return -1;
  }
  const Layout& layout = facts->layout;
  const auto has_flag = [flags](int what) { return (flags & what) == what; };
  if ((has_flag(PyBUF_WRITABLE) && layout.readonly) ||
      ((has_flag(PyBUF_C_CONTIGUOUS) || !has_flag(PyBUF_STRIDES)) && !layout.is_c_contiguous()) ||
      (has_flag(PyBUF_F_CONTIGUOUS) && !layout.is_f_contiguous()) ||
      (has_flag(PyBUF_ANY_CONTIGUOUS) && !layout.is_c_contiguous() && !layout.is_f_contiguous())) {
    PyErr_SetString(PyExc_BufferError, "the memory is read-only or not contiguous as requested");
    return -1;
  }
  // The dtypes of a layout are in the machine's order, so keep the format of other ones.
  const char* format = array_of(self)->via == Via::kBuffer && facts->dtype.starts_with('>')
                           ? facts->dtype.c_str()
                           : layout.dtype->format;
  auto* sizes = reinterpret_cast<Py_ssize_t*>(const_cast<std::intptr_t*>(layout.shape.data()));
  auto* steps = reinterpret_cast<Py_ssize_t*>(const_cast<std::intptr_t*>(layout.strides.data()));
  *view = {.buf = facts->address,
           .obj = Py_NewRef(self),
           .len = layout.elements() * layout.dtype->bytes,
           .itemsize = layout.dtype->bytes,
           .readonly = layout.readonly,
           .ndim = static_cast<int>(layout.shape.size()),
           .format = has_flag(PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr,
           .shape = has_flag(PyBUF_ND) ? sizes : nullptr,
           .strides = has_flag(PyBUF_STRIDES) ? steps : nullptr,
           .suboffsets = nullptr,
           .internal = nullptr};
  return 0;
}

/// `__cuda_array_interface__` of device memory, without a stream, for readers after all work is
/// done. Raises AttributeError for CPU memory.
inline PyObject* show_device_memory(PyObject* self, void*) {
  const Facts* facts = facts_of(self);
  if (facts == nullptr) return nullptr;
  if (is_readable(facts->device.device_type)) {
    PyErr_SetString(PyExc_AttributeError, "__cuda_array_interface__");
    return nullptr;
  }
  const Layout& layout = facts->layout;
  const Ref shape(tuple_of<std::intptr_t>(layout.shape));
  const Ref strides(tuple_of<std::intptr_t>(layout.strides));
  if (!shape || !strides) return nullptr;
  const std::string type = std::string{layout.dtype->bytes == 1 ? '|' : '<', layout.dtype->kind} +
                           std::to_string(static_cast<int>(layout.dtype->bytes));
  return Py_BuildValue("{s:i,s:s,s:O,s:O,s:(NO)}", "version", 3, "typestr", type.c_str(), "shape",
                       shape.get(), "strides", strides.get(), "data",
                       PyLong_FromVoidPtr(facts->address), layout.readonly ? Py_True : Py_False);
}

/// `__dlpack_device__`, for readers of the memory.
inline PyObject* device_of_import(PyObject* self, PyObject*) {
  const Facts* facts = facts_of(self);
  if (facts == nullptr) return nullptr;
  return Py_BuildValue("(ii)", static_cast<int>(facts->device.device_type),
                       static_cast<int>(facts->device.device_id));
}

}  // namespace dlbench::native

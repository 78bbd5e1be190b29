#pragma once

#include "layout.hpp"
#include "python.hpp"

namespace dlbench::native {

/// A buffer to be copied, held until the end of the scope.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { PyBuffer_Release(&buffer_); }

  /// False with an exception set.
  bool read(PyObject* object) {
    if (PyObject_GetBuffer(object, &buffer_, PyBUF_FULL_RO) != 0) return false;
    layout_.dtype = find_format(buffer_.format, buffer_.itemsize);
    if (layout_.dtype == nullptr || buffer_.suboffsets != nullptr) {
      PyErr_Format(PyExc_BufferError, "native does not support format '%s' of %zd bytes",
                   buffer_.format == nullptr ? "B" : buffer_.format, buffer_.itemsize);
      return false;
    }
    layout_.shape = {buffer_.shape, buffer_.shape + buffer_.ndim};
    layout_.readonly = buffer_.readonly != 0;
    // ctypes exports no strides even if they are requested.
    if (buffer_.strides != nullptr) {
      layout_.strides = {buffer_.strides, buffer_.strides + buffer_.ndim};
    } else {
      layout_.set_c_strides();
    }
    return read_unused_strides(object);
  }

  const Layout& layout() const { return layout_; }
  /// The first element.
  const std::byte* data() const { return static_cast<const std::byte*>(buffer_.buf); }

 private:
  // A buffer of NumPy's has the strides of C order along dimensions of one element. The attribute
  // `strides` has the array's own.
  bool read_unused_strides(PyObject* object) {
    PyObject* const own = PyObject_GetAttrString(object, "strides");
    if (own == nullptr) PyErr_Clear();
    const bool fits = own != nullptr && PyTuple_Check(own) && PyTuple_Size(own) == buffer_.ndim;
    for (Py_ssize_t i = 0; fits && i < buffer_.ndim; ++i) {
      if (layout_.shape[i] == 1) layout_.strides[i] = PyLong_AsSsize_t(PyTuple_GetItem(own, i));
    }
    Py_XDECREF(own);
    return PyErr_Occurred() == nullptr;
  }

  Py_buffer buffer_{};
  Layout layout_;
};

}  // namespace dlbench::native

#include "check/buffer.hpp"

#include <new>

namespace dlbench::check {

PyTypeObject buffered_type{};

namespace {

/// What one view of a Buffered holds.
struct Held {
  Py_buffer inner{};
  std::vector<Py_ssize_t> strides;
};

// What `_buffer` says: of whom, with which flags, and what of the answer is then changed.
struct Answer {
  PyObject* source = nullptr;
  int flags = 0;
  PyObject* changes = nullptr;
};

bool change(Py_buffer& view, Held& held, PyObject* changes) {
  PyObject* readonly = PyDict_GetItemString(changes, "readonly");
  PyObject* length = PyDict_GetItemString(changes, "len");
  PyObject* format = PyDict_GetItemString(changes, "format");
  PyObject* strides = PyDict_GetItemString(changes, "strides");
  if (readonly != nullptr) view.readonly = PyObject_IsTrue(readonly);
  if (length != nullptr) view.len = PyLong_AsSsize_t(length);
  // Interned by who asks, so it lives as long as the process.
  if (format != nullptr) view.format = const_cast<char*>(PyUnicode_AsUTF8(format));
  if (strides != nullptr && view.strides != nullptr) {
    std::vector<std::int64_t> read;
    if (!read_ints(strides, read)) return false;
    held.strides.assign(read.begin(), read.end());
    view.strides = held.strides.data();
  }
  return PyErr_Occurred() == nullptr;
}

int get(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const Ref said(PyObject_CallMethod(self, "_buffer", "i", flags));
  Answer answer;
  if (!said || !PyArg_ParseTuple(said.get(), "OiO!:_buffer", &answer.source, &answer.flags,
                                 &PyDict_Type, &answer.changes)) {
    if (!PyErr_ExceptionMatches(PyExc_BufferError)) {
      PyErr_Clear();
      PyErr_SetString(PyExc_BufferError, "no buffer");
    }
    return -1;
  }
  auto held = std::make_unique<Held>();
  if (PyObject_GetBuffer(answer.source, &held->inner, answer.flags) != 0) {
    // NumPy raises ValueError where the protocol has BufferError.
    if (PyErr_ExceptionMatches(PyExc_ValueError)) {
      PyErr_SetString(PyExc_BufferError, "the memory is not as asked for");
    }
    return -1;
  }
  *view = held->inner;
  // Fault: the view holds what is behind this object, and not this object.
  if (PyDict_GetItemString(answer.changes, "orphan") != nullptr) return 0;
  view->obj = nullptr;
  if (!change(*view, *held, answer.changes)) {
    PyBuffer_Release(&held->inner);
    return -1;
  }
  view->internal = held.release();
  view->obj = Py_NewRef(self);
  return 0;
}

void release(PyObject* self, Py_buffer* view) {
  const std::unique_ptr<Held> held(static_cast<Held*>(view->internal));
  PyBuffer_Release(&held->inner);
  const Ref told(PyObject_CallMethod(self, "_released", nullptr));
  if (!told) PyErr_Clear();
}

PyBufferProcs buffer{&get, &release};

PyObject* sizes(const Py_ssize_t* values, int count) {
  if (values == nullptr) return Py_NewRef(Py_None);
  const std::vector<std::int64_t> copy(values, values + count);
  return tuple_of(copy);
}

}  // namespace

PyObject* get_buffer(PyObject*, PyObject* arguments) {
  PyObject* object = nullptr;
  int flags = 0;
  Py_buffer view;
  if (!PyArg_ParseTuple(arguments, "Oi:get_buffer", &object, &flags) ||
      PyObject_GetBuffer(object, &view, flags) != 0) {
    return nullptr;
  }
  PyObject* facts =
      Py_BuildValue("{s:N,s:n,s:n,s:N,s:i,s:z,s:N,s:N}", "buf", PyLong_FromVoidPtr(view.buf), "len",
                    view.len, "itemsize", view.itemsize, "readonly", PyBool_FromLong(view.readonly),
                    "ndim", view.ndim, "format", view.format, "shape", sizes(view.shape, view.ndim),
                    "strides", sizes(view.strides, view.ndim));
  PyBuffer_Release(&view);
  return facts;
}

bool ready_buffered_type() {
  name_type(buffered_type, "dlbench._check.Buffered",
            "Base of Python classes with the buffer protocol. `_buffer(flags)` returns whose "
            "buffer is given,\nthe flags it is asked with, and a dict of what is changed in the "
            "answer: readonly, len, format, strides.\n`_released()` is told of the end of each.",
            sizeof(PyObject), nullptr);
  buffered_type.tp_flags |= Py_TPFLAGS_BASETYPE;
  buffered_type.tp_new = &PyType_GenericNew;
  buffered_type.tp_as_buffer = &buffer;
  return PyType_Ready(&buffered_type) == 0;
}

}  // namespace dlbench::check

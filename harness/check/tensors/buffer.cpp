#include "check/tensors/module.hpp"

namespace dlbench::check {

PyTypeObject buffered_type{};

namespace {

/// The data of one view of a Buffered.
struct Held {
  Py_buffer inner{};
  std::vector<Py_ssize_t> strides;
};

// The result of `_buffer`: the source object, the flags, and the changes to the Py_buffer.
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
  // Interned by the caller, so it is valid for the life of the process.
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
  const Ref result(PyObject_CallMethod(self, "_buffer", "i", flags));
  Answer answer;
  if (!result || !PyArg_ParseTuple(result.get(), "OiO!:_buffer", &answer.source, &answer.flags,
                                   &PyDict_Type, &answer.changes)) {
    if (!PyErr_ExceptionMatches(PyExc_BufferError)) {
      PyErr_Clear();
      PyErr_SetString(PyExc_BufferError, "no buffer");
    }
    return -1;
  }
  auto held = std::make_unique<Held>();
  if (PyObject_GetBuffer(answer.source, &held->inner, answer.flags) != 0) {
    // NumPy raises ValueError instead of the protocol's BufferError.
    if (PyErr_ExceptionMatches(PyExc_ValueError)) {
      PyErr_SetString(PyExc_BufferError, "the memory does not match the requested flags");
    }
    return -1;
  }
  *view = held->inner;
  // Fault: the view owns the source object instead of this object.
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
  const Ref result(PyObject_CallMethod(self, "_released", nullptr));
  if (!result) PyErr_Clear();
}

PyBufferProcs buffer{guarded<&get>, &release};

void release_view(PyObject* capsule) {
  const std::unique_ptr<Py_buffer> view(
      static_cast<Py_buffer*>(PyCapsule_GetPointer(capsule, nullptr)));
  PyBuffer_Release(view.get());
}

}  // namespace

PyObject* get_buffer(PyObject*, PyObject* arguments) {
  PyObject* object = nullptr;
  int flags = 0;
  auto view = std::make_unique<Py_buffer>();
  if (!PyArg_ParseTuple(arguments, "Oi:get_buffer", &object, &flags) ||
      PyObject_GetBuffer(object, view.get(), flags) != 0) {
    return nullptr;
  }
  const Py_buffer& got = *view;
  // Releases the buffer, whose memory may be read until then.
  PyObject* held = PyCapsule_New(view.get(), nullptr, &release_view);
  if (held == nullptr) {
    PyBuffer_Release(view.get());
    return nullptr;
  }
  view.release();
  return Py_BuildValue("{s:N,s:n,s:n,s:N,s:i,s:z,s:N,s:N,s:N}", "buf", PyLong_FromVoidPtr(got.buf),
                       "len", got.len, "itemsize", got.itemsize, "readonly",
                       PyBool_FromLong(got.readonly), "ndim", got.ndim, "format", got.format,
                       "shape", sizes_of(got.shape, got.ndim), "strides",
                       sizes_of(got.strides, got.ndim), "held", held);
}

bool ready_buffered_type() {
  name_type(
      buffered_type, "dlbench._check.Buffered",
      "Base of Python classes with the buffer protocol. `_buffer(flags)` returns the "
      "source object,\nthe flags for its buffer, and a dict of changes to the "
      "result: readonly, len, format, strides.\n`_released()` is called when a buffer is released.",
      sizeof(PyObject), nullptr);
  buffered_type.tp_flags |= Py_TPFLAGS_BASETYPE;
  buffered_type.tp_new = &PyType_GenericNew;
  buffered_type.tp_as_buffer = &buffer;
  return PyType_Ready(&buffered_type) == 0;
}

}  // namespace dlbench::check

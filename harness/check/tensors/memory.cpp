#include "check/tensors/memory.hpp"

namespace dlbench::check {

PyTypeObject memory_type{};

namespace {

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"content", "offset", nullptr};
  Py_buffer content;
  Py_ssize_t offset = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "y*|n:Memory", const_cast<char**>(names),
                                   &content, &offset)) {
    return nullptr;
  }
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> held(&content, &PyBuffer_Release);
  if (offset < 0 || offset > 4096) {
    PyErr_SetString(PyExc_ValueError, "offset must be from 0 to 4096");
    return nullptr;
  }
  const auto room = static_cast<std::size_t>(content.len + offset);
  auto bytes = std::make_shared<Bytes>(room);
  if (content.len > 0) {
    std::memcpy(bytes->place.get() + offset, content.buf, static_cast<std::size_t>(content.len));
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  new (&memory_of(self).bytes) std::shared_ptr<Bytes>(std::move(bytes));
  memory_of(self).offset = static_cast<std::size_t>(offset);
  return self;
}

void drop(PyObject* self) {
  std::destroy_at(&memory_of(self).bytes);
  Py_TYPE(self)->tp_free(self);
}

PyObject* address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(memory_of(self).bytes->place.get() + memory_of(self).offset);
}

PyObject* poison(PyObject* self, PyObject*) {
  memory_of(self).bytes->poison();
  Py_RETURN_NONE;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Memory& memory = memory_of(self);
  return PyBuffer_FillInfo(view, self, memory.bytes->place.get() + memory.offset,
                           static_cast<Py_ssize_t>(memory.bytes->size - memory.offset), 0, flags);
}

PyMethodDef methods[] = {{"poison", guarded<&poison>, METH_NOARGS,
                          "poison()\n--\n\nOverwrites the content, like that of freed memory."},
                         {}};
PyGetSetDef properties[] = {{"address", guarded<&address>, nullptr,
                             "The address of the first byte of the content.", nullptr},
                            {}};
PyBufferProcs buffer{&get_buffer, nullptr};

}  // namespace

bool ready_memory_type() {
  name_type(memory_type, "dlbench._check.Memory",
            "Memory(content, offset=0)\n--\n\nA copy of a buffer, `offset` bytes after a page's "
            "start.",
            sizeof(Memory), &drop);
  memory_type.tp_new = guarded<&make>;
  memory_type.tp_methods = methods;
  memory_type.tp_getset = properties;
  memory_type.tp_as_buffer = &buffer;
  return PyType_Ready(&memory_type) == 0;
}

}  // namespace dlbench::check

// The native producer: the least that each protocol costs, in the raw CPython API. An export takes
// no lock and no dictionary lookup and, one at a time, allocates nothing but its capsule.
#include "native/exchange_api.hpp"
#include "native/export.hpp"
#include "native/views.hpp"

namespace dlbench::native {
namespace {

PyObject* make_array(PyTypeObject*, PyObject* arguments, PyObject* keywords) try {
  static const char* const names[] = {"source", nullptr};
  Py_buffer source;
  PyObject* object = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:Array", const_cast<char**>(names),
                                   &object) ||
      PyObject_GetBuffer(object, &source, PyBUF_FULL_RO) != 0) {
    return nullptr;
  }
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> held(&source, &PyBuffer_Release);
  const Dtype* dtype = find_format(source.format, source.itemsize);
  if (dtype == nullptr || source.suboffsets != nullptr) {
    PyErr_Format(PyExc_BufferError, "native cannot hold format '%s' of %zd bytes",
                 source.format == nullptr ? "B" : source.format, source.itemsize);
    return nullptr;
  }
  Layout layout{.dtype = dtype,
                .shape = {source.shape, source.shape + source.ndim},
                .strides = {},
                .readonly = source.readonly != 0};
  // ctypes leaves the strides out though they are asked for.
  if (source.strides != nullptr) {
    layout.strides = {source.strides, source.strides + source.ndim};
  } else {
    layout.set_c_strides();
  }
  return new_array(Block::copy_of(layout, source.buf));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

void free_array(PyObject* self) {
  auto* array = reinterpret_cast<Array*>(self);
  Py_XDECREF(array->interface);
  const Block::Owner dropped(array->block);
  Py_TYPE(self)->tp_free(self);
}

PyObject* address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(block_of(self).address());
}

PyObject* exports(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(Block::counts().lent);
}

PyObject* deleted(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(Block::counts().deleted);
}

PyMethodDef array_methods[] = {
    fast_method("__dlpack__", &dlpack,
                "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
                "copy=None)\n--\n\nA capsule with the newest struct that max_version allows. "
                "Raises BufferError for\nwhat it cannot say."),
    {"__dlpack_device__", &dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n(1, 0): the CPU."},
    {}};

PyGetSetDef array_properties[] = {
    {"__array_interface__", &array_interface, nullptr, "Version 3.", nullptr},
    {"__array_struct__", &array_struct, nullptr, "A capsule of a PyArrayInterface.", nullptr},
    {"address", &address, nullptr, "Address of the first element.", nullptr},
    {}};

PyBufferProcs array_buffer{&get_buffer, nullptr};

PyMethodDef functions[] = {
    {"exports", &exports, METH_NOARGS,
     "exports()\n--\n\nHow many managed tensors were lent so far."},
    {"deleted", &deleted, METH_NOARGS, "deleted()\n--\n\nHow many of their deleters were called."},
    {"set_logging", &Log::set_logging, METH_O,
     "set_logging(on, /)\n--\n\nWrite down what is asked of arrays; off at first."},
    {"log", &Log::lines, METH_NOARGS,
     "log()\n--\n\nWhat was asked, as '__dlpack__(max_version=(1,0))'."},
    {"clear_log", &Log::clear, METH_NOARGS, "clear_log()\n--\n\nForget what was asked."},
    {}};

PyModuleDef module{PyModuleDef_HEAD_INIT,
                   "_native_producer",
                   "dlbench's own producer, in C++.",
                   -1,
                   functions,
                   nullptr,
                   nullptr,
                   nullptr,
                   nullptr};

bool make_type() {
  describe(array_type, "dlbench._native_producer.Array",
           "Array(source)\n--\n\nA copy of a buffer in memory of its own, laid out as it was: "
           "strides, distance from\na page's start, read-only or not.",
           sizeof(Array), &free_array);
  array_type.tp_new = &make_array;
  array_type.tp_methods = array_methods;
  array_type.tp_getset = array_properties;
  array_type.tp_as_buffer = &array_buffer;
  const Ref capsule(PyCapsule_New(&exchange_api, "dlpack_exchange_api", nullptr));
  array_type.tp_dict = PyDict_New();
  return capsule && array_type.tp_dict != nullptr &&
         PyDict_SetItemString(array_type.tp_dict, "__dlpack_c_exchange_api__", capsule.get()) ==
             0 &&
         PyType_Ready(&array_type) == 0;
}

}  // namespace
}  // namespace dlbench::native

PyMODINIT_FUNC PyInit__native_producer() {
  using namespace dlbench::native;
  if (!make_type()) return nullptr;
  PyObject* created = PyModule_Create(&module);
  if (created != nullptr &&
      PyModule_AddObjectRef(created, "Array", reinterpret_cast<PyObject*>(&array_type)) != 0) {
    Py_CLEAR(created);
  }
  return created;
}

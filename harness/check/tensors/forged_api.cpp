#include <dlpack/dlpack.h>

#include <cstring>

#include "check/tensors/module.hpp"

namespace dlbench::check {
namespace {

// The functions of a table have no context argument, so a process has only one forged table.
PyObject* callbacks = nullptr;

/// The return value of a callback; null with an exception set.
PyObject* call_forged(const char* name, PyObject* stolen_arguments) {
  const Ref arguments(stolen_arguments);
  PyObject* function = PyDict_GetItemString(callbacks, name);
  if (function == nullptr) PyErr_Format(PyExc_NotImplementedError, "no callback '%s'", name);
  return !arguments || function == nullptr ? nullptr
                                           : PyObject_CallObject(function, arguments.get());
}

int from_object(void* object, DLManagedTensorVersioned** out) {
  const Ref borrowed(call_forged("export", Py_BuildValue("(O)", static_cast<PyObject*>(object))));
  *out = borrowed ? export_versioned(borrowed.get()) : nullptr;
  return *out == nullptr ? -1 : 0;
}

int to_object(DLManagedTensorVersioned* managed, void** out) {
  *out = call_forged("import", Py_BuildValue("(N)", own(managed)));
  return *out == nullptr ? -1 : 0;
}

int borrow(void* object, DLTensor* out) {
  // A borrowed view is valid until the next call.
  static PyObject* last = nullptr;
  PyObject* borrowed = call_forged("borrow", Py_BuildValue("(O)", static_cast<PyObject*>(object)));
  if (borrowed == nullptr) return -1;
  *out = *tensor_of(borrowed);
  Py_XSETREF(last, borrowed);
  return 0;
}

int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  const DLDataType dtype = prototype->dtype;
  PyObject* shape =
      tuple_of<std::int64_t>({prototype->shape, static_cast<std::size_t>(prototype->ndim)});
  const Ref borrowed(call_forged(
      "allocate", Py_BuildValue("((BBH)N)", dtype.code, dtype.bits, dtype.lanes, shape)));
  *out = borrowed && borrowed.get() != Py_None ? export_versioned(borrowed.get()) : nullptr;
  if (*out != nullptr) return 0;
  if (PyErr_Occurred()) {
    PyErr_Clear();
    set_error(context, "BufferError", "no such dtype");
  }
  return -1;
}

int stream(DLDeviceType type, std::int32_t id, void** out) {
  const Ref address(
      call_forged("stream", Py_BuildValue("(ii)", static_cast<int>(type), static_cast<int>(id))));
  if (!address) return -1;
  *out = PyLong_AsVoidPtr(address.get());
  return PyErr_Occurred() ? -1 : 0;
}

DLPackExchangeAPI table{};

}  // namespace

PyObject* make_api(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"callbacks", "version", "without", "name", nullptr};
  PyObject* given = nullptr;
  DLPackVersion version{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  const char *without = "", *name = "dlpack_exchange_api";
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|$(II)ss:make_api",
                                   const_cast<char**>(names), &PyDict_Type, &given, &version.major,
                                   &version.minor, &without, &name)) {
    return nullptr;
  }
  Py_XSETREF(callbacks, Py_NewRef(given));
  table = {{version, nullptr}, &allocate, &from_object, &to_object, &borrow, &stream};
  if (std::strcmp(without, "current_work_stream") == 0) table.current_work_stream = nullptr;
  // A capsule keeps the pointer to its name. Never freed, because only a few different names are
  // used.
  return PyCapsule_New(&table, ::strdup(name), nullptr);
}

}  // namespace dlbench::check

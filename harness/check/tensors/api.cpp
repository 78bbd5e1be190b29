#include <dlpack/dlpack.h>

#include <string>

#include "check/tensors/module.hpp"
#include "exchange/guard/maps.hpp"

namespace dlbench::check {

PyTypeObject api_type{};

namespace {

struct Api {
  PyObject ob_base;
  const DLPackExchangeAPI* table;
};

const DLPackExchangeAPI& table_of(PyObject* self) {
  return *reinterpret_cast<Api*>(self)->table;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(arguments, "O:Api", &value)) return nullptr;
  void* table = PyLong_Check(value) ? read_address(value)
                                    : PyCapsule_GetPointer(value, "dlpack_exchange_api");
  if (table == nullptr) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "it is null");
    return nullptr;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(table);
  if (address % alignof(DLPackExchangeAPI) != 0 ||
      !exchange::is_readable(address, sizeof(DLPackExchangeAPI))) {
    PyErr_SetString(PyExc_ValueError, "its pointer is misaligned or not readable");
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    reinterpret_cast<Api*>(self)->table = static_cast<const DLPackExchangeAPI*>(table);
  }
  return self;
}

void drop(PyObject* self) {
  Py_TYPE(self)->tp_free(self);
}

PyObject* versions(PyObject* self, void*) {
  constexpr int kMost = 16;
  Ref list(PyList_New(0));
  const DLPackExchangeAPIHeader* header = &table_of(self).header;
  for (int i = 0; list && header != nullptr && i < kMost; ++i, header = header->prev_api) {
    const auto address = reinterpret_cast<std::uintptr_t>(header);
    if (address % alignof(DLPackExchangeAPIHeader) != 0 ||
        !exchange::is_readable(address, sizeof *header)) {
      PyErr_SetString(PyExc_ValueError, "it links to no table");
      return nullptr;
    }
    const Ref version(Py_BuildValue("(II)", header->version.major, header->version.minor));
    if (!version || PyList_Append(list.get(), version.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* functions(PyObject* self, void*) {
  const DLPackExchangeAPI& api = table_of(self);
  const auto is = [](bool set) { return set ? Py_True : Py_False; };
  return Py_BuildValue(
      "{s:O,s:O,s:O,s:O,s:O}", "managed_tensor_allocator",
      is(api.managed_tensor_allocator != nullptr), "managed_tensor_from_py_object_no_sync",
      is(api.managed_tensor_from_py_object_no_sync != nullptr),
      "managed_tensor_to_py_object_no_sync", is(api.managed_tensor_to_py_object_no_sync != nullptr),
      "dltensor_from_py_object_no_sync", is(api.dltensor_from_py_object_no_sync != nullptr),
      "current_work_stream", is(api.current_work_stream != nullptr));
}

// A function that fails must set an exception, and a successful one must not.
PyObject* failed(int status) {
  if (PyErr_Occurred() == nullptr) {
    PyErr_Format(PyExc_SystemError, "it returned %d without an exception", status);
  }
  return nullptr;
}

PyObject* is_null() {
  PyErr_SetString(PyExc_ValueError, "the function is NULL");
  return nullptr;
}

PyObject* from_object(PyObject* self, PyObject* object) {
  DLManagedTensorVersioned* managed = nullptr;
  if (table_of(self).managed_tensor_from_py_object_no_sync == nullptr) return is_null();
  const int status = table_of(self).managed_tensor_from_py_object_no_sync(object, &managed);
  if (status != 0 || managed == nullptr || PyErr_Occurred()) return failed(status);
  return own(managed);
}

PyObject* to_object(PyObject* self, PyObject* borrowed) {
  if (table_of(self).managed_tensor_to_py_object_no_sync == nullptr) return is_null();
  DLManagedTensorVersioned* managed = export_versioned(borrowed);
  if (managed == nullptr) return nullptr;
  void* made = nullptr;
  const int status = table_of(self).managed_tensor_to_py_object_no_sync(managed, &made);
  if (status != 0 || made == nullptr || PyErr_Occurred()) return failed(status);
  return static_cast<PyObject*>(made);
}

PyObject* borrow(PyObject* self, PyObject* object) {
  if (table_of(self).dltensor_from_py_object_no_sync == nullptr) return is_null();
  DLTensor tensor{};
  const int status = table_of(self).dltensor_from_py_object_no_sync(object, &tensor);
  return status != 0 || PyErr_Occurred() ? failed(status) : facts_of(tensor);
}

struct ErrorRecord {
  std::string kind, message;
  int times = 0;

  static void note(void* context, const char* kind, const char* message) {
    auto* self = static_cast<ErrorRecord*>(context);
    self->kind = kind == nullptr ? "" : kind;
    self->message = message == nullptr ? "" : message;
    ++self->times;
  }
};

/// Bytes that are no UTF-8 are spelled out.
PyObject* decoded(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                              "backslashreplace");
}

PyObject* allocate(PyObject* self, PyObject* arguments) {
  if (table_of(self).managed_tensor_allocator == nullptr) return is_null();
  DLTensor prototype{};
  int type = kDLCPU;
  PyObject* sizes = nullptr;
  std::vector<std::int64_t> shape;
  if (!PyArg_ParseTuple(arguments, "(BBH)O|i:allocate", &prototype.dtype.code,
                        &prototype.dtype.bits, &prototype.dtype.lanes, &sizes, &type) ||
      !read_ints(sizes, shape)) {
    return nullptr;
  }
  prototype.device = {static_cast<DLDeviceType>(type), 0};
  prototype.ndim = static_cast<std::int32_t>(shape.size());
  prototype.shape = shape.data();
  DLManagedTensorVersioned* managed = nullptr;
  ErrorRecord complaint;
  const int status =
      table_of(self).managed_tensor_allocator(&prototype, &managed, &complaint, &ErrorRecord::note);
  // The allocator reports errors through SetError; the rule checks whether it also set a Python
  // exception.
  const Ref raised(PyErr_Occurred() == nullptr ? nullptr : Py_NewRef(PyErr_Occurred()));
  PyErr_Clear();
  const Ref made(status == 0 && managed != nullptr ? own(managed) : Py_NewRef(Py_None));
  if (!made) return nullptr;
  return Py_BuildValue("{s:i,s:O,s:i,s:N,s:N,s:O}", "status", status, "made", made.get(),
                       "complaints", complaint.times, "kind", decoded(complaint.kind), "message",
                       decoded(complaint.message), "raised", raised ? raised.get() : Py_None);
}

PyObject* stream(PyObject* self, PyObject* arguments) {
  int type = kDLCPU, id = 0;
  if (!PyArg_ParseTuple(arguments, "|ii:stream", &type, &id)) return nullptr;
  if (table_of(self).current_work_stream == nullptr) return is_null();
  int unset = 0;
  void* out = &unset;
  const int status = table_of(self).current_work_stream(static_cast<DLDeviceType>(type), id, &out);
  if (status != 0 || PyErr_Occurred()) return failed(status);
  if (out == &unset) Py_RETURN_NOTIMPLEMENTED;
  return PyLong_FromVoidPtr(out);
}

PyMethodDef methods[] = {
    {"from_object", guarded<&from_object>, METH_O,
     "from_object(x, /)\n--\n\nmanaged_tensor_from_py_object_no_sync: an ImportedTensor."},
    {"to_object", guarded<&to_object>, METH_O,
     "to_object(borrowed, /)\n--\n\nmanaged_tensor_to_py_object_no_sync of a BorrowedTensor."},
    {"borrow", guarded<&borrow>, METH_O,
     "borrow(x, /)\n--\n\ndltensor_from_py_object_no_sync: the fields."},
    {"allocate", guarded<&allocate>, METH_VARARGS,
     "allocate(dtype, shape, device_type=1, /)\n--\n\nmanaged_tensor_allocator: its result."},
    {"stream", guarded<&stream>, METH_VARARGS,
     "stream(device_type=1, id=0, /)\n--\n\ncurrent_work_stream: an address; NotImplemented if "
     "the function wrote none."},
    {}};
PyGetSetDef properties[] = {
    {"versions", guarded<&versions>, nullptr,
     "The versions of the table and of the tables in its chain of prev_api.", nullptr},
    {"functions", guarded<&functions>, nullptr, "Whether each function is set, by name.", nullptr},
    {}};

}  // namespace

bool ready_api_type() {
  name_type(api_type, "dlbench._check.Api",
            "Api(published)\n--\n\nThe C exchange API of a capsule or an address.", sizeof(Api),
            &drop);
  api_type.tp_new = guarded<&make>;
  api_type.tp_methods = methods;
  api_type.tp_getset = properties;
  return PyType_Ready(&api_type) == 0;
}

}  // namespace dlbench::check

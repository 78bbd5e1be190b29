#include "worker/exported.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "model/names.hpp"
#include "worker/read.hpp"

namespace dlbench::worker {
namespace {

struct Exported {
  PyObject_HEAD PyObject* array;  // owned, as is the function
  PyObject* function;
  exchange::Device device;
};

Exported* exported_of(PyObject* self) {
  return reinterpret_cast<Exported*>(self);
}

PyObject* call(PyObject* self) {
  return PyObject_CallOneArg(exported_of(self)->function, exported_of(self)->array);
}

// None is no wish; `allowed` is what the struct's producers know, and what a consumer may leave to
// them.
bool takes(PyObject* const* values, PyObject* names, const char* method,
           std::initializer_list<const char*> allowed) {
  const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    const auto is = [name](const char* word) {
      return PyUnicode_CompareWithASCIIString(name, word) == 0;
    };
    if (std::any_of(allowed.begin(), allowed.end(), is)) continue;
    if (values[i] == Py_None && allowed.size() > 1) continue;
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", method, name);
    return false;
  }
  return true;
}

PyObject* dlpack_legacy(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* names) {
  if (!takes(arguments + count, names, "__dlpack__", {"stream"})) return nullptr;
  return call(self);
}

PyObject* dlpack_versioned(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                           PyObject* names) {
  if (!takes(arguments + count, names, "__dlpack__", {"stream", "max_version"})) return nullptr;
  return call(self);
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  const exchange::Device device = exported_of(self)->device;
  return Py_BuildValue("(ii)", device.type, device.id);
}

PyObject* as_array(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (!takes(arguments + count, names, "__array__", {"dtype", "copy"})) return nullptr;
  return call(self);
}

PyObject* property(PyObject* self, void*) {
  return call(self);
}

int buffer(PyObject* self, Py_buffer* wanted, int flags) {
  PyObject* exporter = call(self);
  if (exporter == nullptr) return -1;
  const int status = PyObject_GetBuffer(exporter, wanted, flags);
  Py_DECREF(exporter);  // the buffer holds it
  return status;
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(exported_of(self)->array);
  Py_XDECREF(exported_of(self)->function);
  type->tp_free(self);
  Py_DECREF(type);
}

using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyMethodDef method(const char* name, FastMethod function) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, nullptr};
}

// A type keeps pointers into these lists for as long as it lives, which is for ever.
struct TypeParts {
  std::vector<PyMethodDef> methods;
  std::vector<PyGetSetDef> properties;
  Ref type;
};

PyTypeObject* type_for(const std::string& protocol) {
  static std::map<std::string, TypeParts>& types = *new std::map<std::string, TypeParts>;
  TypeParts& parts = types[protocol];
  if (parts.type) return reinterpret_cast<PyTypeObject*>(parts.type.get());
  if (protocol.starts_with("dlpack_")) {
    const bool legacy = protocol == "dlpack_legacy";
    parts.methods.push_back(method("__dlpack__", legacy ? dlpack_legacy : dlpack_versioned));
    parts.methods.push_back({"__dlpack_device__", dlpack_device, METH_NOARGS, nullptr});
  }
  if (protocol == "array") parts.methods.push_back(method("__array__", as_array));
  parts.methods.push_back({});
  constexpr std::array<std::pair<const char*, const char*>, 3> kProperties{
      {{"array_interface", "__array_interface__"},
       {"array_struct", "__array_struct__"},
       {"cuda_array_interface", "__cuda_array_interface__"}}};
  for (const auto& [word, name] : kProperties) {
    if (protocol == word) parts.properties.push_back({name, property, nullptr, nullptr, nullptr});
  }
  parts.properties.push_back({});
  std::vector<PyType_Slot> slots{
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_methods, parts.methods.data()},
      {Py_tp_getset, parts.properties.data()},
  };
  if (protocol == "buffer") slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(buffer)});
  slots.push_back({0, nullptr});
  PyType_Spec spec{"dlbench.Exported", sizeof(Exported), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  parts.type = checked(PyType_FromSpec(&spec));
  return reinterpret_cast<PyTypeObject*>(parts.type.get());
}

Ref table_of(const Library& library) {
  if (!library.producer) return {};
  Ref table = optional_attribute(library.producer.get(), "EXPORTS");
  return table && PyDict_Check(table.get()) ? table : Ref{};
}

}  // namespace

std::vector<std::string> exports_of(const Library& library) {
  std::vector<std::string> names;
  const Ref table = table_of(library);
  for (const std::string_view protocol : kProtocols) {
    std::string name(protocol);
    if (table && PyDict_GetItemString(table.get(), name.c_str()) != nullptr) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

Export export_for(const Library& library, const std::string& protocol) {
  const std::vector<std::string> names = exports_of(library);
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> wanted{protocol};
  if (protocol == "dlpack") wanted = {"dlpack_versioned", "dlpack_legacy"};
  for (const std::string& name : wanted) {
    if (!has(name)) continue;
    return {name, Ref::borrow(PyDict_GetItemString(table_of(library).get(), name.c_str()))};
  }
  return {};
}

Ref make_exported(PyObject* array, const Export& by) {
  PyTypeObject* type = type_for(by.protocol);
  Ref made = checked(type->tp_alloc(type, 0));
  Exported* exported = exported_of(made.get());
  exported->array = Py_NewRef(array);
  exported->function = Py_NewRef(by.function.get());
  exported->device = {};
  if (by.protocol.starts_with("dlpack_")) {
    exported->device = view_of_capsule(checked(call(made.get())).get()).device;
  }
  return made;
}

Ref exported_place(PyObject* array, const Library& library) {
  for (const std::string& protocol : exports_of(library)) {
    // What these return may be a copy of its own each time.
    if (protocol == "array" || protocol == "buffer") continue;
    return make_exported(array, export_for(library, protocol));
  }
  return {};
}

}  // namespace dlbench::worker

#include "worker/library/exported.hpp"

#include <map>
#include <vector>

#include "model/contains.hpp"
#include "model/names.hpp"
#include "worker/arrays/shown.hpp"
#include "worker/base/keywords.hpp"
#include "worker/base/shown_type.hpp"
#include "worker/library/capsule.hpp"

namespace dlbench::worker {
namespace {

struct Exported {
  PyObject_HEAD PyObject* array;  // owned, as is the function
  PyObject* function;
  exchange::Device device;
  bool refused;  // rejected the last call without calling the library
};

Exported* exported_of(PyObject* self) {
  return reinterpret_cast<Exported*>(self);
}

PyObject* call(PyObject* self) {
  return PyObject_CallOneArg(exported_of(self)->function, exported_of(self)->array);
}

bool accepts(PyObject* self, PyObject* const* values, PyObject* names, const char* text,
             std::initializer_list<const char*> known) {
  PyObject* const unknown = unknown_keyword(values, names, known);
  exported_of(self)->refused = unknown != nullptr;
  if (unknown != nullptr) refuse_keyword(text, unknown);
  return unknown == nullptr;
}

PyObject* dlpack_legacy(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* names) {
  if (!accepts(self, arguments + count, names, kUnknownToDlpack, {"stream"})) return nullptr;
  return call(self);
}

PyObject* dlpack_versioned(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                           PyObject* names) {
  if (!accepts(self, arguments + count, names, kUnknownToDlpack, {"stream", "max_version"})) {
    return nullptr;
  }
  return call(self);
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  const exchange::Device device = exported_of(self)->device;
  return Py_BuildValue("(ii)", device.type, device.id);
}

PyObject* as_array(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (!accepts(self, arguments + count, names, kUnknownToArray, {"dtype", "copy"})) return nullptr;
  return call(self);
}

PyObject* property(PyObject* self, void*) {
  return call(self);
}

int buffer(PyObject* self, Py_buffer* wanted, int flags) {
  PyObject* exporter = call(self);
  if (exporter == nullptr) return -1;
  const int status = PyObject_GetBuffer(exporter, wanted, flags);
  Py_DECREF(exporter);  // the buffer owns it
  return status;
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(exported_of(self)->array);
  Py_XDECREF(exported_of(self)->function);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* type_for(const std::string& protocol) {
  static std::map<std::string, ShownType>& types = *new std::map<std::string, ShownType>;
  if (const auto found = types.find(protocol); found != types.end()) return found->second.get();
  ShownType made;
  if (protocol.starts_with("dlpack_")) {
    const bool legacy = protocol == Protocol::dlpack_legacy;
    made.methods.push_back(method("__dlpack__", legacy ? dlpack_legacy : dlpack_versioned));
    made.methods.push_back({"__dlpack_device__", dlpack_device, METH_NOARGS, nullptr});
  }
  if (protocol == Protocol::array) made.methods.push_back(method("__array__", as_array));
  for (const Property& shown : kProperties) {
    if (protocol != shown.protocol) continue;
    made.properties.push_back({shown.name, property, nullptr, nullptr, nullptr});
  }
  if (protocol == Protocol::buffer) made.buffer = buffer;
  made.make("dlbench.Exported", sizeof(Exported), dealloc);
  return types.emplace(protocol, std::move(made)).first->second.get();
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
  std::vector<std::string> wanted{protocol};
  if (protocol == Protocol::dlpack) wanted = {"dlpack_versioned", "dlpack_legacy"};
  for (const std::string& name : wanted) {
    if (!contains(names, name)) continue;
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

Ref make_exported_like(PyObject* exported, PyObject* array) {
  PyTypeObject* type = Py_TYPE(exported);
  Ref made = checked(type->tp_alloc(type, 0));
  Exported* const like = exported_of(made.get());
  like->array = Py_NewRef(array);
  like->function = Py_NewRef(exported_of(exported)->function);
  like->device = exported_of(exported)->device;
  return made;
}

bool is_exported(PyObject* object) {
  return Py_TYPE(object)->tp_dealloc == dealloc;
}

bool refused_itself(PyObject* object) {
  return is_exported(object) && exported_of(object)->refused;
}

Ref exported_place(PyObject* array, const Library& library) {
  for (const std::string& protocol : exports_of(library)) {
    // These may return a new copy for each call.
    if (protocol == Protocol::array || protocol == Protocol::buffer) continue;
    return make_exported(array, export_for(library, protocol));
  }
  return {};
}

}  // namespace dlbench::worker

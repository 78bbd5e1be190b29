#include "worker/base/shown_type.hpp"

namespace dlbench::worker {

PyMethodDef method(const char* name, FastMethod function) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, nullptr};
}

void ShownType::make(const char* name, std::size_t size, destructor dealloc) {
  methods.push_back({});
  properties.push_back({});
  std::vector<PyType_Slot> slots{
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_methods, methods.data()},
      {Py_tp_getset, properties.data()},
  };
  if (buffer != nullptr) slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(buffer)});
  slots.push_back({0, nullptr});
  PyType_Spec spec{name, static_cast<int>(size), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  type = checked(PyType_FromSpec(&spec));
}

}  // namespace dlbench::worker

// The native consumer with one planted fault, which the instruments must find. A separate module
// keeps the native consumer unchanged.
#include "faulty/import.hpp"

namespace dlbench::faulty {
namespace {

PyObject* address(PyObject* self, void*) {
  if (!read_memory(array_of(self))) return nullptr;
  const native::Facts* facts = native::facts_of(self);
  return facts == nullptr ? nullptr : PyLong_FromVoidPtr(facts->address);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return read_memory(array_of(self)) ? native::get_buffer(self, view, flags) : -1;
}

PyObject* ready(PyObject* self, PyObject*) {
  join(array_of(self));
  Py_RETURN_NONE;
}

PyMethodDef fault_methods[] = {
    {"from_dlpack", &from_dlpack, METH_O,
     "from_dlpack($self, x, /)\n--\n\nThe native consumer's from_dlpack with the fault."},
    {"from_dlpack_c", &from_dlpack_c, METH_O,
     "from_dlpack_c($self, x, /)\n--\n\nThe native consumer's from_dlpack_c with the fault."},
    {"delays", &delays, METH_NOARGS, kDelaysDoc},
    {}};

PyMethodDef array_methods[] = {
    {"ready", &ready, METH_NOARGS, "ready($self, /)\n--\n\nWait for a late read."}, {}};

PyGetSetDef array_properties[] = {
    {"address", &address, nullptr, "Address of the first element.", nullptr}, {}};

PyBufferProcs array_buffer{&get_buffer, nullptr};

PyModuleDef module = dlbench::define_module("_faulty_consumer",
                                            "The native consumer with one planted fault.", nullptr);

bool make_types() {
  PyTypeObject& type = native::array_type;
  dlbench::name_type(type, "dlbench._faulty_consumer.Array",
                     "The imported array. Readable as a buffer.", sizeof(Array), &free_array);
  type.tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_methods = array_methods;
  type.tp_getset = array_properties;
  type.tp_as_buffer = &array_buffer;
  return PyType_Ready(&type) == 0 && native::export_call.prepare() &&
         ready_fault_type("dlbench._faulty_consumer.Fault", kFaults, fault_methods);
}

}  // namespace
}  // namespace dlbench::faulty

PyMODINIT_FUNC PyInit__faulty_consumer() {
  using namespace dlbench;
  if (!faulty::make_types()) return nullptr;
  dlbench::Ref created(create_module(faulty::module));
  const dlbench::Ref names(faulty::tuple_of_names(faulty::kFaults));
  const bool good = created && names &&
                    PyModule_AddObjectRef(created.get(), "FAULTS", names.get()) == 0 &&
                    add_types(created.get(), {{"Fault", &faulty::fault_type}});
  return good ? created.release() : nullptr;
}

// The native consumer: imports through each protocol at the lowest cost, with the CPython API. It
// keeps the imported object and reads it on request.
#include "native/buffer.hpp"
#include "native/calls.hpp"
#include "native/importer.hpp"

namespace dlbench::native {
namespace {

PyObject* address(PyObject* self, void*) {
  const Facts* facts = facts_of(self);
  return facts == nullptr ? nullptr : PyLong_FromVoidPtr(facts->address);
}

PyObject* shape(PyObject* self, void*) {
  const Facts* facts = facts_of(self);
  return facts == nullptr ? nullptr : tuple_of<std::intptr_t>(facts->layout.shape);
}

PyObject* strides(PyObject* self, void*) {
  const Facts* facts = facts_of(self);
  return facts == nullptr ? nullptr : tuple_of<std::intptr_t>(facts->layout.strides);
}

PyObject* dtype(PyObject* self, void*) {
  const Facts* facts = facts_of(self);
  return facts == nullptr ? nullptr : PyUnicode_FromString(facts->dtype.c_str());
}

PyObject* readonly(PyObject* self, void*) {
  const Facts* facts = facts_of(self);
  return facts == nullptr ? nullptr : PyBool_FromLong(facts->layout.readonly);
}

PyObject* via(PyObject* self, void*) {
  switch (array_of(self)->via) {
    case Via::kVersioned:
      return PyUnicode_FromString("dltensor_versioned");
    case Via::kLegacy:
      return PyUnicode_FromString("dltensor");
    case Via::kBuffer:
      return PyUnicode_FromString("buffer");
    case Via::kInterface:
      return PyUnicode_FromString("array_interface");
    case Via::kCudaInterface:
      return PyUnicode_FromString("cuda_array_interface");
    case Via::kStruct:
      break;
  }
  return PyUnicode_FromString("array_struct");
}

PyObject* imports_so_far(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(imports);
}
PyObject* deleted_so_far(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(deleted);
}

PyGetSetDef array_properties[] = {
    {"address", &address, nullptr, "Address of the first element.", nullptr},
    {"shape", &shape, nullptr, "Elements along each axis.", nullptr},
    {"strides", &strides, nullptr, "Strides in bytes along each axis.", nullptr},
    {"dtype", &dtype, nullptr,
     "NumPy's name, or 'dlpack(code,bits,lanes)' for other dtypes, whose buffer has unsigned\n"
     "numbers.",
     nullptr},
    {"readonly", &readonly, nullptr, "Whether the producer exported it as read-only.", nullptr},
    {"via", &via, nullptr,
     "The kind of import: dltensor_versioned, dltensor, buffer, array_interface, array_struct,\n"
     "cuda_array_interface.",
     nullptr},
    {"__cuda_array_interface__", &show_device_memory, nullptr,
     "Of device memory, without a stream.", nullptr},
    {}};

PyMethodDef array_methods[] = {{"__dlpack_device__", &device_of_import, METH_NOARGS,
                                "__dlpack_device__($self, /)\n--\n\nDLDeviceType and number."},
                               {}};

PyBufferProcs array_buffer{&get_buffer, nullptr};

PyMethodDef functions[] = {
    {"from_dlpack", &from_dlpack, METH_O,
     "from_dlpack(x, /)\n--\n\nImports through x.__dlpack__, which is called for DLPack 1.3, and "
     "without arguments after a TypeError."},
    {"from_dlpack_c", &from_dlpack_c, METH_O,
     "from_dlpack_c(x, /)\n--\n\nImports through the C exchange API of x's type. Raises TypeError "
     "if the type has none."},
    {"from_buffer", &from_buffer, METH_O,
     "from_buffer(x, /)\n--\n\nImports through the buffer protocol."},
    {"from_array_interface", &from_array_interface, METH_O,
     "from_array_interface(x, /)\n--\n\nImports through x.__array_interface__."},
    {"from_array_struct", &from_array_struct, METH_O,
     "from_array_struct(x, /)\n--\n\nImports through x.__array_struct__."},
    positional_method("call_dlpack", &call_dlpack,
                      "call_dlpack(*arrays)\n--\n\nCalls an empty C function with a capsule "
                      "of each array."),
    positional_method("call_dlpack_c", &call_dlpack_c,
                      "call_dlpack_c(*arrays)\n--\n\nCalls an empty C function with the "
                      "arrays, through the C exchange API."),
    own_stream_method,
    set_stream_method,
    {"imports", &imports_so_far, METH_NOARGS,
     "imports()\n--\n\nThe number of managed tensors imported so far."},
    {"deleted", &deleted_so_far, METH_NOARGS,
     "deleted()\n--\n\nThe number of them that were deleted."},
    {}};

PyModuleDef module =
    dlbench::define_module("_native_consumer", "dlbench's own consumer, in C++.", functions);

bool make_type() {
  name_type(array_type, "dlbench._native_consumer.Array",
            "The imported array. It owns its source until it is freed. Readable as a buffer.",
            sizeof(Array), &free_array);
  array_type.tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  array_type.tp_getset = array_properties;
  array_type.tp_methods = array_methods;
  array_type.tp_as_buffer = &array_buffer;
  return PyType_Ready(&array_type) == 0;
}

}  // namespace
}  // namespace dlbench::native

PyMODINIT_FUNC PyInit__native_consumer() {
  using namespace dlbench::native;
  if (!make_type() || !make_importer_type() || !export_call.prepare()) return nullptr;
  dlbench::Ref created(dlbench::create_module(module));
  const bool good =
      dlbench::add_types(created.get(), {{"Array", &array_type}, {"Importer", &importer_type}});
  return good ? created.release() : nullptr;
}

// The module of `dlbench check`. It reads the exports of a library as plain values, and exports
// tensors of any description to a consumer.
#include "exchange/python/module.hpp"

#include "check/tensors/memory.hpp"
#include "check/tensors/module.hpp"
#include "exchange/guard/heap.hpp"

namespace dlbench::check {
namespace {

PyObject* heap_bytes(PyObject*, PyObject*) {
  const auto bytes = exchange::heap_bytes();
  if (!bytes) Py_RETURN_NONE;
  return PyLong_FromSize_t(*bytes);
}

PyMethodDef functions[] = {
    {"read", guarded<&read_capsule>, METH_O,
     "read(capsule, /)\n--\n\nThe fields of a DLPack capsule, which stays unconsumed. Raises "
     "ValueError for other objects."},
    {"import_capsule", guarded<&import_capsule>, METH_O,
     "import_capsule(capsule, /)\n--\n\nImports a capsule as a consumer does. Returns an "
     "ImportedTensor."},
    {"gather", guarded<&gather>, METH_VARARGS,
     "gather(address, shape, strides, itemsize, /)\n--\n\nThe bytes of the elements in C order. "
     "Strides are in bytes, or None."},
    keyword_method("make_api", guarded<&make_api>,
                   "make_api(callbacks, *, version=(1, 3), without='', name=...)\n--\n\nA forged C "
                   "exchange API, as a capsule."),
    {"get_buffer", guarded<&get_buffer>, METH_VARARGS,
     "get_buffer(x, flags, /)\n--\n\nThe fields of the Py_buffer of x for these flags; the "
     "buffer is released with `held`."},
    {"read_struct", guarded<&read_struct>, METH_O,
     "read_struct(capsule, /)\n--\n\nThe fields of an __array_struct__."},
    {"make_struct", guarded<&make_struct>, METH_VARARGS,
     "make_struct(two, kind, itemsize, flags, shape, strides, data, keep, /)\n--\n\nA "
     "capsule with an __array_struct__."},
    {"heap_bytes", guarded<&heap_bytes>, METH_NOARGS,
     "heap_bytes()\n--\n\nBytes that malloc has allocated; None if unknown."},
    {}};

PyModuleDef module = dlbench::define_module(
    "_check", "Reads exports of libraries, and exports tensors of any description.", functions);

}  // namespace
}  // namespace dlbench::check

PyMODINIT_FUNC PyInit__check() {
  using namespace dlbench::check;
  if (!ready_memory_type() || !ready_borrowed_type() || !ready_imported_type() ||
      !ready_api_type() || !ready_buffered_type()) {
    return nullptr;
  }
  dlbench::Ref made(dlbench::create_module(module));
  const bool good = dlbench::add_types(made.get(), {{"Memory", &memory_type},
                                                    {"BorrowedTensor", &borrowed_type},
                                                    {"Api", &api_type},
                                                    {"Buffered", &buffered_type}});
  return good ? made.release() : nullptr;
}

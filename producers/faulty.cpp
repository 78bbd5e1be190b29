// The native producer with one planted fault, which the instruments must find. A separate module
// keeps the native producer unchanged.
#include "faulty/device.hpp"
#include "faulty/export.hpp"
#include "native/views.hpp"

namespace dlbench::faulty {
namespace {

PyObject* make_array(PyTypeObject* type, PyObject* arguments, PyObject*) try {
  PyObject *object = nullptr, *fault = nullptr;
  Py_buffer source;
  if (!PyArg_ParseTuple(arguments, "OO!:Array", &object, &fault_type, &fault) ||
      PyObject_GetBuffer(object, &source, PyBUF_FULL_RO) != 0) {
    return nullptr;
  }
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> held(&source, &PyBuffer_Release);
  const native::Dtype* dtype = native::find_format(source.format, source.itemsize);
  if (dtype == nullptr || source.suboffsets != nullptr) {
    PyErr_Format(PyExc_BufferError,
                 "the fault-injecting adapter does not support format '%s' of %zd bytes",
                 source.format == nullptr ? "B" : source.format, source.itemsize);
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  dlbench::Ref made(self);
  Array& array = array_of(self);
  new (&array.pages) std::shared_ptr<Pages>;
  array.fault = fault_of(Py_NewRef(fault));
  fill(array,
       {.dtype = dtype,
        .shape = {source.shape, source.shape + source.ndim},
        .strides = {source.strides, source.strides + source.ndim},
        .readonly = source.readonly != 0},
       source.buf);
  return made.release();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
} catch (const std::system_error& error) {
  PyErr_SetString(PyExc_OSError, error.what());
  return nullptr;
}

void free_array(PyObject* self) {
  Array& array = array_of(self);
  const native::Block::Owner dropped(array.native.block);
  std::destroy_at(&array.pages);
  Py_XDECREF(reinterpret_cast<PyObject*>(array.fault));
  Py_TYPE(self)->tp_free(self);
}

PyObject* address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(array_of(self).native.block->address());
}

PyObject* exports(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(native::Block::counts().exported);
}
PyObject* deleted(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(native::Block::counts().deleted);
}

PyMethodDef fault_methods[] = {{"delays", &delays, METH_NOARGS, kDelaysDoc}, {}};

PyMethodDef array_methods[] = {
    native::fast_method("__dlpack__", &dlpack,
                        "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
                        "copy=None)\n--\n\nThe native producer's __dlpack__ with the fault."),
    {"__dlpack_device__", &dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n(1, 0): the CPU."},
    {}};

PyGetSetDef array_properties[] = {
    {"address", &address, nullptr, "Address of the first element.", nullptr}, {}};

PyBufferProcs array_buffer{&native::get_buffer, nullptr};

PyMethodDef functions[] = {
    {"exports", &exports, METH_NOARGS,
     "exports()\n--\n\nThe number of managed tensors exported so far."},
    {"deleted", &deleted, METH_NOARGS, "deleted()\n--\n\nThe number of them that were deleted."},
    native::own_stream_method,
    native::set_stream_method,
    {}};

PyModuleDef module = dlbench::define_module(
    "_faulty_producer", "The native producer with one planted fault.", functions);

DLPackExchangeAPI exchange_api = sabotaged_api();

bool make_types() {
  PyTypeObject& type = native::array_type;
  dlbench::name_type(
      type, "dlbench._faulty_producer.Array",
      "Array(source, fault, /)\n--\n\nA copy of a buffer with the same layout, exported with the "
      "fault. The buffer\nprotocol is correct.",
      sizeof(Array), &free_array);
  type.tp_new = &make_array;
  type.tp_methods = array_methods;
  type.tp_getset = array_properties;
  type.tp_as_buffer = &array_buffer;
  return native::publish(type, exchange_api) && ready_device_type() &&
         ready_fault_type("dlbench._faulty_producer.Fault", kFaults, fault_methods);
}

}  // namespace
}  // namespace dlbench::faulty

PyMODINIT_FUNC PyInit__faulty_producer() {
  using namespace dlbench;
  if (!faulty::make_types()) return nullptr;
  dlbench::Ref created(create_module(faulty::module));
  const dlbench::Ref names(faulty::tuple_of_names(faulty::kFaults));
  const bool good = created && names &&
                    PyModule_AddObjectRef(created.get(), "FAULTS", names.get()) == 0 &&
                    add_types(created.get(), {{"Fault", &faulty::fault_type},
                                              {"DeviceArray", &native::device_array_type},
                                              {"Array", &native::array_type}});
  return good ? created.release() : nullptr;
}

// The native producer: exports through each protocol at the lowest cost, with the CPython API. An
// export needs no lock and no dictionary lookup; a single export allocates only its capsule.
#include "native/device_export.hpp"
#include "native/device_views.hpp"
#include "native/exchange_api.hpp"

namespace dlbench::native {
namespace {

PyObject* make_array(PyTypeObject*, PyObject* arguments, PyObject* keywords) try {
  static const char* const names[] = {"source", nullptr};
  PyObject* object = nullptr;
  Source source;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:Array", const_cast<char**>(names),
                                   &object) ||
      !source.read(object)) {
    return nullptr;
  }
  return new_array(Block::copy_of(source.layout(), source.data()));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* make_device_array(PyTypeObject*, PyObject* arguments, PyObject* keywords) try {
  static const char* const names[] = {"source", "device", "memory", "interface", nullptr};
  PyObject* object = nullptr;
  const char *word = nullptr, *memory = "device";
  DeviceBehavior device_behavior;
  device::Memory kind = device::Memory::Device;
  Source source;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "Os|$sI:DeviceArray",
                                   const_cast<char**>(names), &object, &word, &memory,
                                   &device_behavior.interface) ||
      !read_memory(memory, kind) || !source.read(object)) {
    return nullptr;
  }
  Place* place = Place::named(word);
  return place == nullptr ? nullptr : copy_to_device(source, *place, kind, device_behavior);
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
  return PyLong_FromUnsignedLongLong(Block::counts().exported);
}

PyObject* deleted(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(Block::counts().deleted);
}

PyMethodDef array_methods[] = {
    fast_method("__dlpack__", &dlpack,
                "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
                "copy=None)\n--\n\nA capsule with the newest struct that max_version allows. "
                "Raises BufferError if\nthe export is not possible."),
    {"__dlpack_device__", &dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n(1, 0): the CPU."},
    {}};

PyGetSetDef array_properties[] = {
    {"__array_interface__", &array_interface, nullptr, "Version 3.", nullptr},
    {"__array_struct__", &array_struct, nullptr, "A capsule of a PyArrayInterface.", nullptr},
    {"address", &address, nullptr, "Address of the first element.", nullptr},
    {}};

PyMethodDef device_array_methods[] = {
    fast_method("__dlpack__", &dlpack_on_device,
                "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
                "copy=None)\n--\n\nA capsule whose content is complete for later work on "
                "`stream`."),
    {"__dlpack_device__", &device_of_array, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nDLDeviceType and number."},
    {}};

PyGetSetDef device_array_properties[] = {
    {"__cuda_array_interface__", &cuda_array_interface, nullptr,
     "Version 3 with the stream to wait for, or version 2.", nullptr},
    {"address", &address, nullptr, "Address of the first element.", nullptr},
    {}};

PyBufferProcs array_buffer{&get_buffer, nullptr};

PyMethodDef functions[] = {
    {"exports", &exports, METH_NOARGS,
     "exports()\n--\n\nThe number of managed tensors exported so far."},
    {"deleted", &deleted, METH_NOARGS, "deleted()\n--\n\nThe number of them that were deleted."},
    {"set_logging", &Log::set_logging, METH_O,
     "set_logging(on, /)\n--\n\nRecords the requests to arrays; off at first."},
    {"log", &Log::lines, METH_NOARGS,
     "log()\n--\n\nThe recorded requests, as '__dlpack__(max_version=(1,0))'."},
    own_stream_method,
    set_stream_method,
    {"clear_log", &Log::clear, METH_NOARGS, "clear_log()\n--\n\nDrops the recorded requests."},
    {}};

PyModuleDef module =
    dlbench::define_module("_native_producer", "dlbench's own producer, in C++.", functions);

bool make_types() {
  name_type(array_type, "dlbench._native_producer.Array",
            "Array(source)\n--\n\nA copy of a buffer with the same layout: strides, distance from "
            "the start\nof a page, read-only flag.",
            sizeof(Array), &free_array);
  array_type.tp_new = &make_array;
  array_type.tp_methods = array_methods;
  array_type.tp_getset = array_properties;
  array_type.tp_as_buffer = &array_buffer;
  name_type(device_array_type, "dlbench._native_producer.DeviceArray",
            "DeviceArray(source, device, /, *, memory='device', interface=3)\n--\n\nA copy of a "
            "buffer in memory of a device: 'device', 'pinned' or 'managed'.",
            sizeof(DeviceArray), &free_device_array);
  device_array_type.tp_new = &make_device_array;
  device_array_type.tp_methods = device_array_methods;
  device_array_type.tp_getset = device_array_properties;
  return publish(array_type, exchange_api) && publish(device_array_type, exchange_api);
}

}  // namespace
}  // namespace dlbench::native

PyMODINIT_FUNC PyInit__native_producer() {
  using namespace dlbench::native;
  if (!make_types()) return nullptr;
  dlbench::Ref created(dlbench::create_module(module));
  const bool good = dlbench::add_types(
      created.get(), {{"Array", &array_type}, {"DeviceArray", &device_array_type}});
  return good ? created.release() : nullptr;
}

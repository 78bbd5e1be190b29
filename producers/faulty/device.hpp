#pragma once

#include "../native/device_export.hpp"
#include "../native/device_views.hpp"
#include "array.hpp"

namespace dlbench::faulty {

/// Reads the fault's behavior on a device; false if it has none.
inline bool read_device_behavior(Kind kind, native::DeviceBehavior& device_behavior) {
  using Waits = native::DeviceBehavior::Waits;
  switch (kind) {
    case Kind::honest:
      return true;
    case Kind::no_wait:
      device_behavior.waits = Waits::none;
      return true;
    case Kind::wrong_stream:
      device_behavior.waits = Waits::wrong_stream;
      return true;
    case Kind::host_sync:
      device_behavior.waits = Waits::host;
      return true;
    case Kind::wrong_device:
      device_behavior.other_device = true;
      return true;
    case Kind::wrong_copy:
      device_behavior.wrong_copy = true;
      return true;
    default:
      return false;
  }
}

inline PyObject* make_device_array(PyTypeObject*, PyObject* arguments, PyObject*) try {
  PyObject *object = nullptr, *fault = nullptr;
  const char *word = nullptr, *memory = "device";
  native::Source source;
  device::Memory kind = device::Memory::Device;
  if (!PyArg_ParseTuple(arguments, "OsO!|s:DeviceArray", &object, &word, &fault_type, &fault,
                        &memory) ||
      !native::read_memory(memory, kind) || !source.read(object)) {
    return nullptr;
  }
  native::DeviceBehavior device_behavior;
  if (!read_device_behavior(static_cast<Kind>(fault_of(fault)->kind), device_behavior)) {
    PyErr_SetString(PyExc_ValueError, "this fault needs host memory");
    return nullptr;
  }
  native::Place* place = native::Place::named(word);
  return place == nullptr ? nullptr : native::copy_to_device(source, *place, kind, device_behavior);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

inline PyObject* device_address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(native::block_of(self).address());
}

inline PyMethodDef device_array_methods[] = {
    native::fast_method("__dlpack__", &native::dlpack_on_device,
                        "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, "
                        "copy=None)\n--\n\nThe native producer's __dlpack__ with the fault."),
    {"__dlpack_device__", &native::device_of_array, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nDLDeviceType and number."},
    {}};

inline PyGetSetDef device_array_properties[] = {
    {"__cuda_array_interface__", &native::cuda_array_interface, nullptr, "Honest.", nullptr},
    {"address", &device_address, nullptr, "Address of the first element.", nullptr},
    {}};

inline bool ready_device_type() {
  PyTypeObject& type = native::device_array_type;
  dlbench::name_type(type, "dlbench._faulty_producer.DeviceArray",
                     "DeviceArray(source, device, fault, memory='device', /)\n--\n\nA copy of a "
                     "buffer in device memory, exported with the fault.",
                     sizeof(native::DeviceArray), &native::free_device_array);
  type.tp_new = &make_device_array;
  type.tp_methods = device_array_methods;
  type.tp_getset = device_array_properties;
  return PyType_Ready(&type) == 0;
}

}  // namespace dlbench::faulty

#pragma once

#include <exception>

#include "device_array.hpp"

namespace dlbench::native {

inline bool is_array(void* object) {
  const PyTypeObject* type = Py_TYPE(static_cast<PyObject*>(object));
  if (type == &array_type || type == &device_array_type) [[likely]]
    return true;
  PyErr_Format(PyExc_TypeError, "this table does not belong to the type %s",
               Py_TYPE(static_cast<PyObject*>(object))->tp_name);
  return false;
}

inline void log_exchange(const char* text) {
  if (Log::instance().is_on()) [[unlikely]]
    Log::instance().line(text);
}

inline int managed_from_object(void* object, DLManagedTensorVersioned** out) {
  log_exchange("managed_tensor_from_py_object_no_sync()");
  if (!is_array(object)) return -1;
  Block& block = block_of(static_cast<PyObject*>(object));
  if (!check_strides(block)) return -1;
  *out = block.export_tensor(block.layout().readonly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0);
  if (*out == nullptr) PyErr_NoMemory();
  return *out == nullptr ? -1 : 0;
}

inline int borrowed_from_object(void* object, DLTensor* out) {
  log_exchange("dltensor_from_py_object_no_sync()");
  if (!is_array(object)) return -1;
  const Block& block = block_of(static_cast<PyObject*>(object));
  if (!check_strides(block)) return -1;
  if (block.layout().readonly) {
    PyErr_SetString(PyExc_BufferError, "a borrowed view cannot be marked read-only");
    return -1;
  }
  *out = block.tensor();
  return 0;
}

/// Why a foreign tensor is invalid, or null.
inline const char* read_layout(const DLTensor& tensor, const Dtype& dtype, Layout& layout) {
  layout.dtype = &dtype;
  return layout.assign(tensor.ndim, tensor.shape, tensor.strides, dtype.bytes);
}

inline device::Memory kind_of(const Place& place, DLDevice where) {
  for (const auto kind : {device::Memory::Pinned, device::Memory::Managed}) {
    if (place.device(kind).device_type == where.device_type) return kind;
  }
  return device::Memory::Device;
}

// Steals the tensor, also if it fails.
inline int object_from_managed(DLManagedTensorVersioned* managed, void** out) try {
  log_exchange("managed_tensor_to_py_object_no_sync()");
  const DLTensor& tensor = managed->dl_tensor;
  const bool known = managed->version.major == DLPACK_MAJOR_VERSION;
  const Dtype* dtype = known ? find_dtype(tensor.dtype) : nullptr;
  device::Memory kind = device::Memory::Device;
  Place* place = nullptr;
  if (dtype != nullptr && tensor.device.device_type != kDLCPU) {
    place = Place::at(tensor.device);
    if (place == nullptr) {
      PyErr_Clear();
      dtype = nullptr;
    } else {
      kind = kind_of(*place, tensor.device);
    }
  }
  Layout layout;
  const char* const flaw = dtype == nullptr
                               ? "a version, device or dtype that native does not support"
                               : read_layout(tensor, *dtype, layout);
  if (flaw != nullptr) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    PyErr_Format(PyExc_BufferError, "native cannot import this tensor: %s", flaw);
    return -1;
  }
  layout.readonly = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  Block::Owner block = Block::around(std::move(layout), managed);
  *out = place == nullptr ? new_array(std::move(block))
                          : new_device_array(std::move(block), *place, kind, {});
  return *out == nullptr ? -1 : 0;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return -1;
} catch (const std::exception& error) {
  PyErr_SetString(PyExc_BufferError, error.what());
  return -1;
}

inline int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void*, const char*, const char*)) try {
  const Dtype* dtype = find_dtype(prototype->dtype);
  const bool on_cpu = prototype->device.device_type == kDLCPU;
  Place* place = on_cpu || dtype == nullptr ? nullptr : Place::at(prototype->device);
  if (dtype == nullptr || (!on_cpu && place == nullptr)) {
    PyErr_Clear();
    set_error(context, "BufferError", "native does not support this dtype or device");
    return -1;
  }
  Layout layout;
  if (const char* flaw = read_layout(*prototype, *dtype, layout)) {
    set_error(context, "BufferError", flaw);
    return -1;
  }
  const Block::Owner block =
      on_cpu ? Block::blank(std::move(layout))
             : device_block(std::move(layout), nullptr, *place, kind_of(*place, prototype->device));
  if (!block) {
    PyErr_Clear();
    set_error(context, "MemoryError", "the device has no memory left");
    return -1;
  }
  *out = block->export_tensor(0);
  if (*out == nullptr) set_error(context, "MemoryError", "no memory");
  return *out == nullptr ? -1 : 0;
} catch (const std::bad_alloc&) {
  set_error(context, "MemoryError", "no memory");
  return -1;
} catch (const std::exception& error) {
  set_error(context, "BufferError", error.what());
  return -1;
}

inline int current_stream(DLDeviceType type, std::int32_t id, void** out) {
  *out = nullptr;
  if (type == kDLCPU) return 0;
  Place* place = Place::at({type, id});
  return place != nullptr && place->stream(*out) ? 0 : -1;
}

inline DLPackExchangeAPI exchange_api{{kVersion, nullptr},   &allocate,
                                      &managed_from_object,  &object_from_managed,
                                      &borrowed_from_object, &current_stream};

/// Readies a type and adds its C exchange API.
inline bool publish(PyTypeObject& type, DLPackExchangeAPI& api) {
  const Ref capsule(PyCapsule_New(&api, "dlpack_exchange_api", nullptr));
  type.tp_dict = PyDict_New();
  return capsule && type.tp_dict != nullptr &&
         PyDict_SetItemString(type.tp_dict, "__dlpack_c_exchange_api__", capsule.get()) == 0 &&
         PyType_Ready(&type) == 0;
}

}  // namespace dlbench::native

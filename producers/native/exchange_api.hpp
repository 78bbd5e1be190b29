#pragma once

#include "array.hpp"

namespace dlbench::native {

inline bool is_array(void* object) {
  if (Py_TYPE(static_cast<PyObject*>(object)) == &array_type) [[likely]]
    return true;
  PyErr_Format(PyExc_TypeError, "%s is not the type that published this table",
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
  *out = block.lend(block.layout().readonly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0);
  if (*out == nullptr) PyErr_NoMemory();
  return *out == nullptr ? -1 : 0;
}

inline int borrowed_from_object(void* object, DLTensor* out) {
  log_exchange("dltensor_from_py_object_no_sync()");
  if (!is_array(object)) return -1;
  const Block& block = block_of(static_cast<PyObject*>(object));
  if (!check_strides(block)) return -1;
  if (block.layout().readonly) {
    PyErr_SetString(PyExc_BufferError, "a borrowed view cannot say that it is read-only");
    return -1;
  }
  *out = block.tensor();
  return 0;
}

inline Layout layout_of(const DLTensor& tensor, const Dtype& dtype) {
  Layout layout{.dtype = &dtype, .shape = {}, .strides = {}};
  layout.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  layout.set_c_strides();
  for (int i = 0; tensor.strides != nullptr && i < tensor.ndim; ++i) {
    layout.strides[static_cast<std::size_t>(i)] = tensor.strides[i] * dtype.bytes;
  }
  return layout;
}

// Steals the tensor, also where it fails.
inline int object_from_managed(DLManagedTensorVersioned* managed, void** out) try {
  log_exchange("managed_tensor_to_py_object_no_sync()");
  const DLTensor& tensor = managed->dl_tensor;
  const Dtype* dtype =
      managed->version.major == DLPACK_MAJOR_VERSION && tensor.device.device_type == kDLCPU
          ? find_dtype(tensor.dtype)
          : nullptr;
  if (dtype == nullptr) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    PyErr_SetString(PyExc_BufferError, "a version, device or dtype that native does not know");
    return -1;
  }
  Layout layout = layout_of(tensor, *dtype);
  layout.readonly = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  *out = new_array(Block::around(std::move(layout), managed));
  return *out == nullptr ? -1 : 0;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return -1;
}

inline int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void*, const char*, const char*)) try {
  const Dtype* dtype = find_dtype(prototype->dtype);
  if (dtype == nullptr || prototype->device.device_type != kDLCPU) {
    set_error(context, "BufferError", "native has CPU memory and NumPy's numbers only");
    return -1;
  }
  Layout layout = layout_of(*prototype, *dtype);
  *out = Block::blank(std::move(layout))->lend(0);
  if (*out == nullptr) set_error(context, "MemoryError", "no memory");
  return *out == nullptr ? -1 : 0;
} catch (const std::bad_alloc&) {
  set_error(context, "MemoryError", "no memory");
  return -1;
}

inline int current_stream(DLDeviceType, std::int32_t, void** out) {
  *out = nullptr;
  return 0;
}

inline DLPackExchangeAPI exchange_api{{kVersion, nullptr},   &allocate,
                                      &managed_from_object,  &object_from_managed,
                                      &borrowed_from_object, &current_stream};

}  // namespace dlbench::native

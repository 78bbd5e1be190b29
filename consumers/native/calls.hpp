#pragma once

#include "call/body.h"
#include "import_dlpack.hpp"

namespace dlbench::native {

inline PyMethodDef positional_method(const char* name,
                                     PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t),
                                     const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL, doc};
}

inline bool require_count(Py_ssize_t arrays) {
  if (arrays <= DLBENCH_CALL_MOST) [[likely]]
    return true;
  PyErr_Format(PyExc_TypeError, "%zd arrays; allowed: at most %d", arrays, DLBENCH_CALL_MOST);
  return false;
}

/// The address of an argument, which is described to the record.
inline void* argument_of(std::size_t position, const DLTensor& tensor) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const DLDataType type = tensor.dtype;
    dlbench_call_describe(position, tensor.ndim, tensor.shape, tensor.strides, type.bits / 8,
                          type.code, type.lanes == 1 ? type.bits : 0);
  }
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

/// call_dlpack_c(*arrays): borrows a DLTensor of each array where its type fills one, else exports
/// it. The C exchange API of each type is looked up once.
inline PyObject* call_dlpack_c(PyObject*, PyObject* const* arrays, Py_ssize_t count) {
  if (!require_count(count)) return nullptr;
  void* addresses[DLBENCH_CALL_MOST];
  DLManagedTensorVersioned* managed[DLBENCH_CALL_MOST];
  Py_ssize_t exported = 0, read = 0;
  for (; read < count; ++read) {
    PyObject* x = arrays[read];
    const DLPackExchangeAPI* api = table_cache.of(Py_TYPE(x));
    if (api == nullptr) break;
    if (api->dltensor_from_py_object_no_sync != nullptr) {
      DLTensor tensor;
      if (api->dltensor_from_py_object_no_sync(x, &tensor) != 0) break;
      if (!check_device(tensor.device, nullptr)) break;
      addresses[read] = argument_of(read, tensor);
    } else {
      managed[exported] = exported_by(*api, x);
      if (managed[exported] == nullptr) break;
      const DLManagedTensorVersioned& found = *managed[exported++];
      const DLTensor& tensor = found.dl_tensor;
      if (!check_version(found) || !check_device(tensor.device, nullptr)) break;
      addresses[read] = argument_of(read, tensor);
    }
  }
  if (read == count) dlbench_call(static_cast<std::size_t>(count), addresses);
  while (exported-- > 0) release_managed(managed[exported]);
  return read == count ? Py_NewRef(Py_None) : nullptr;
}

/// The tensor in a capsule that `__dlpack__` returned; null with an exception set.
inline const DLTensor* tensor_in(PyObject* capsule) {
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  if (name != nullptr && std::strcmp(name, kVersioned) == 0) [[likely]] {
    const auto* found = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, name));
    return check_version(*found) ? &found->dl_tensor : nullptr;
  }
  if (name != nullptr && std::strcmp(name, kLegacy) == 0) {
    return &static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, name))->dl_tensor;
  }
  PyErr_Format(PyExc_BufferError, "__dlpack__ returned %R, not a DLPack capsule", capsule);
  return nullptr;
}

/// call_dlpack(*arrays): a capsule of each array. A capsule that keeps its name frees the export.
inline PyObject* call_dlpack(PyObject*, PyObject* const* arrays, Py_ssize_t count) {
  if (!require_count(count)) return nullptr;
  void* addresses[DLBENCH_CALL_MOST];
  PyObject* capsules[DLBENCH_CALL_MOST];
  Py_ssize_t held = 0, read = 0;
  for (; read < count; ++read) {
    PyObject* arguments[] = {nullptr, arrays[read], export_call.version};
    PyObject* capsule = export_call.method.call(arguments + 1, export_call.keywords);
    if (capsule == nullptr) [[unlikely]]
      capsule = request_again(arrays[read]);
    if (capsule == nullptr) break;
    capsules[held++] = capsule;
    const DLTensor* tensor = tensor_in(capsule);
    if (tensor == nullptr || !check_device(tensor->device, nullptr)) break;
    addresses[read] = argument_of(read, *tensor);
  }
  if (read == count) dlbench_call(static_cast<std::size_t>(count), addresses);
  if (read == count) [[likely]] {
    while (held-- > 0) Py_DECREF(capsules[held]);
    return Py_NewRef(Py_None);
  }
  while (held-- > 0) drop_refused(capsules[held]);
  return nullptr;
}

}  // namespace dlbench::native

#pragma once

#include "device_array.hpp"
#include "export.hpp"

namespace dlbench::native {

/// The meaning of `stream` (array API standard, `__dlpack__`).
struct StreamRequest {
  bool synchronize = true;  ///< false for -1
  device::Stream stream = nullptr;
};

/// Reads `stream`; false with an exception set. On CUDA None and 1 are the legacy default stream, 2
/// is the per-thread one, and 0 is refused as ambiguous. On ROCm None and 0 are the default stream,
/// and 1 and 2 are refused.
inline bool read_stream(const Place& place, PyObject* stream, StreamRequest& requested) {
  if (stream == nullptr) {
    requested.stream =
        place.is_rocm() ? nullptr : reinterpret_cast<device::Stream>(std::uintptr_t{1});
    return true;
  }
  const long long number = PyLong_AsLongLong(stream);
  if (number == -1) {
    if (PyErr_Occurred() != nullptr) return false;
    requested.synchronize = false;
    return true;
  }
  const bool refused = number < 0 || (place.is_rocm() ? number == 1 || number == 2 : number == 0);
  if (refused) {
    PyErr_Format(PyExc_ValueError, "stream %lld is not allowed on %s", number,
                 place.table().name.data());
    return false;
  }
  requested.stream = reinterpret_cast<device::Stream>(static_cast<std::uintptr_t>(number));
  return true;
}

/// Makes the content complete for later work on the consumer's stream.
inline bool make_safe(DeviceArray& array, const StreamRequest& requested) {
  if (!requested.synchronize) return true;
  Place& place = *array.place;
  device::Stream mine = nullptr;
  if (!place.stream(mine)) return false;
  switch (array.device_behavior.waits) {
    case DeviceBehavior::Waits::consumer_stream:
      return place.order(mine, requested.stream);
    case DeviceBehavior::Waits::none:
      return true;
    case DeviceBehavior::Waits::wrong_stream:
      return place.order(nullptr, requested.stream);
    case DeviceBehavior::Waits::host:
      return place.finish(mine);
  }
  return true;
}

/// A capsule that names a device other than the block's.
inline PyObject* export_as(Block& block, bool versioned, bool copied, DLDevice where) {
  PyObject* capsule = export_tensor(block, versioned, copied);
  if (capsule == nullptr) return nullptr;
  if (versioned) {
    static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName))
        ->dl_tensor.device = where;
  } else {
    static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kLegacyName))->dl_tensor.device =
        where;
  }
  return capsule;
}

inline bool refuse(PyObject* kind, const char* text) {
  PyErr_SetString(kind, text);
  return false;
}

/// The request by `dl_device` and `copy`.
struct CopyRequest {
  bool to_cpu = false;
  bool must_copy = false;
  bool may_copy = true;

  /// False with an exception set.
  bool read(const Request& request, DLDevice own) {
    if (request.copy != nullptr) {
      const int copy = PyObject_IsTrue(request.copy);
      if (copy < 0) return false;
      must_copy = copy == 1;
      may_copy = must_copy;
    }
    if (request.dl_device == nullptr) return true;
    long id = 0;
    const long type = first_of_pair(request.dl_device, "dl_device", id);
    if (type == -1 && PyErr_Occurred() != nullptr) return false;
    to_cpu = type == kDLCPU && id == 0;
    if (to_cpu || (type == own.device_type && id == own.device_id)) return true;
    return refuse(PyExc_BufferError, "dl_device must be (1, 0), the CPU, or the array's own");
  }
};

/// A copy in host memory or on the same device, in the stream's order.
inline Block::Owner copy_of(const DeviceArray& array, const CopyRequest& wanted,
                            device::Stream stream) {
  const Block& block = *array.array.block;
  const device::Entered inside = array.place->enter();
  if (!array.place->is_entered(inside)) return nullptr;
  Layout layout = block.layout();
  layout.readonly = false;
  Block::Owner copied =
      wanted.to_cpu ? Block::unfilled(std::move(layout))
                    : device_block(std::move(layout), block.address(), *array.place, array.kind);
  const std::intptr_t low = block.layout().low();
  if (!copied ||
      !array.place->copy(copied->address() + low, block.address() + low, block.extent(), stream)) {
    return nullptr;
  }
  return copied;
}

/// Exports to the CPU. The copy is complete when this returns, because the consumer has no stream
/// to wait for.
inline PyObject* export_to_cpu(DeviceArray& array, bool versioned, const CopyRequest& wanted) {
  device::Stream mine = nullptr;
  if (!array.place->stream(mine)) return nullptr;
  const bool reachable = array.kind != device::Memory::Device;
  if (reachable && !wanted.must_copy) {
    if (!array.place->finish(mine)) return nullptr;
    return export_as(*array.array.block, versioned, false, {kDLCPU, 0});
  }
  if (!wanted.may_copy) {
    PyErr_SetString(PyExc_BufferError,
                    "copy=False is not possible: the CPU cannot read this memory");
    return nullptr;
  }
  const Block::Owner copied = copy_of(array, wanted, mine);
  if (!copied || !array.place->finish(mine)) return nullptr;
  if (array.device_behavior.wrong_copy && copied->extent() > 0)
    *copied->address() ^= std::byte{0x40};
  return export_tensor(*copied, versioned, true);
}

inline PyObject* answer_on_device(DeviceArray& array, PyObject* const* arguments,
                                  Py_ssize_t positional, PyObject* keywords) {
  Block& block = *array.array.block;
  const DLDevice own = block.tensor().device;
  Request request;
  CopyRequest wanted;
  if (!request.read(arguments, positional, keywords) || !wanted.read(request, own)) return nullptr;
  bool versioned = false;
  if (request.max_version != nullptr) {
    long minor = 0;
    const long major = first_of_pair(request.max_version, "max_version", minor);
    if (major == -1 && PyErr_Occurred() != nullptr) return nullptr;
    versioned = major >= 1;
  }
  if (!check_strides(block)) return nullptr;
  // Pinned memory is host memory: it has no stream and must be complete.
  const bool on_host = array.kind == device::Memory::Pinned;
  if (wanted.to_cpu || on_host) {
    if (request.stream != nullptr) {
      PyErr_SetString(PyExc_ValueError, "stream must be None for host memory");
      return nullptr;
    }
    if (wanted.to_cpu) return export_to_cpu(array, versioned, wanted);
    device::Stream mine = nullptr;
    if (!array.place->stream(mine) || !array.place->finish(mine)) return nullptr;
    if (!wanted.must_copy) return export_tensor(block, versioned, false);
    const Block::Owner copied = copy_of(array, wanted, mine);
    return copied && array.place->finish(mine) ? export_tensor(*copied, versioned, true) : nullptr;
  }
  StreamRequest requested;
  if (!read_stream(*array.place, request.stream, requested) || !make_safe(array, requested)) {
    return nullptr;
  }
  if (wanted.must_copy) {
    if (!requested.synchronize && !array.place->stream(requested.stream)) return nullptr;
    const Block::Owner copied = copy_of(array, wanted, requested.stream);
    return copied ? export_tensor(*copied, versioned, true) : nullptr;
  }
  if (array.device_behavior.other_device) {
    return export_as(block, versioned, false, {own.device_type, own.device_id + 1});
  }
  return export_tensor(block, versioned, false);
}

/// `DeviceArray.__dlpack__`.
inline PyObject* dlpack_on_device(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                                  PyObject* keywords) try {
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.call("__dlpack__", arguments, positional, keywords);
  return answer_on_device(device_array_of(self), arguments, positional, keywords);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

/// `DeviceArray.__dlpack_device__`.
inline PyObject* device_of_array(PyObject* self, PyObject*) {
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.line("__dlpack_device__()");
  const DLDevice where = block_of(self).tensor().device;
  return Py_BuildValue("(ii)", static_cast<int>(where.device_type), where.device_id);
}

}  // namespace dlbench::native

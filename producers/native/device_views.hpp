#pragma once

#include "device_array.hpp"
#include "views.hpp"

namespace dlbench::native {

/// `__cuda_array_interface__`, version 3: the consumer must wait for `stream`; the producer does
/// not wait.
inline PyObject* cuda_array_interface(PyObject* self, void*) {
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.line("__cuda_array_interface__");
  DeviceArray& array = device_array_of(self);
  device::Stream stream = nullptr;
  if (!array.place->stream(stream)) return nullptr;
  PyObject*& kept = array.array.interface;
  if (kept != nullptr && array.announced == stream) [[likely]]
    return PyDict_Copy(kept);
  const Block& block = *array.array.block;
  Ref dict(build_interface(block));
  const Ref version(PyLong_FromUnsignedLong(array.device_behavior.interface));
  if (!dict || !version || PyDict_SetItemString(dict.get(), "version", version.get()) != 0) {
    return nullptr;
  }
  if (block.layout().elements() == 0) {
    const Ref data(Py_BuildValue("(iO)", 0, block.layout().readonly ? Py_True : Py_False));
    if (!data || PyDict_SetItemString(dict.get(), "data", data.get()) != 0) return nullptr;
  }
  if (array.device_behavior.interface >= 3) {
    // 0 is not allowed in the protocol: the default stream is 1.
    const auto number = std::max<std::uintptr_t>(reinterpret_cast<std::uintptr_t>(stream), 1);
    const Ref handle(PyLong_FromSize_t(number));
    if (!handle || PyDict_SetItemString(dict.get(), "stream", handle.get()) != 0) return nullptr;
  }
  Py_XDECREF(std::exchange(kept, dict.release()));
  array.announced = stream;
  return PyDict_Copy(kept);
}

}  // namespace dlbench::native

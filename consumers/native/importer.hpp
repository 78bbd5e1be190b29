#pragma once

#include "../../producers/native/deposit.hpp"
#include "import_dlpack.hpp"
#include "import_views.hpp"

namespace dlbench::native {

/// Imports to one device; `place` is null for the CPU. Requests a copy for an array on another
/// device, if the protocol supports that.
struct Importer {
  PyObject ob_base;
  Place* place;
};

inline PyTypeObject importer_type{};

inline Importer& importer_of(PyObject* self) {
  return *reinterpret_cast<Importer*>(self);
}

/// The keyword arguments of `__dlpack__` for both kinds of import.
struct ExportRequest {
  PyObject* device_method = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* with_stream = Py_BuildValue("(ss)", "max_version", "stream");
  PyObject* with_device = Py_BuildValue("(ss)", "max_version", "dl_device");
  PyObject* cpu = Py_BuildValue("(ii)", static_cast<int>(kDLCPU), 0);
};
inline const ExportRequest& export_request() {
  static const ExportRequest words;
  return words;
}

/// The device that x reports; false with an exception set.
inline bool device_of(PyObject* x, DLDevice& where) {
  const Ref pair(PyObject_VectorcallMethod(export_request().device_method, &x,
                                           1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (!pair) return false;
  if (!PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2) {
    PyErr_Format(PyExc_BufferError, "__dlpack_device__ returned %R", pair.get());
    return false;
  }
  const long type = PyLong_AsLong(PyTuple_GET_ITEM(pair.get(), 0));
  const long id = PyLong_AsLong(PyTuple_GET_ITEM(pair.get(), 1));
  where = {static_cast<DLDeviceType>(type), static_cast<std::int32_t>(id)};
  return PyErr_Occurred() == nullptr;
}

inline bool is_on_host(DLDeviceType type) {
  return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost;
}

/// x.__dlpack__(max_version=..., NAME=value).
inline PyObject* request_with(PyObject* x, PyObject* names, PyObject* value) {
  PyObject* arguments[] = {nullptr, x, export_call.version, value};
  return PyObject_VectorcallMethod(export_call.method.name(), arguments + 1,
                                   1 | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
}

/// A capsule of x that is safe to use on `stream`. Repeats the request without max_version for a
/// producer before DLPack 1.0.
inline PyObject* request_on_stream(PyObject* x, device::Stream stream, const Place& place) {
  // The legacy default stream is 1 on CUDA and 0 on ROCm.
  auto number = reinterpret_cast<std::uintptr_t>(stream);
  if (number == 0 && !place.is_rocm()) number = 1;
  const Ref handle(PyLong_FromSize_t(number));
  if (!handle) return nullptr;
  PyObject* capsule = request_with(x, export_request().with_stream, handle.get());
  if (capsule != nullptr || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  PyErr_Clear();
  static PyObject* const only_stream = Py_BuildValue("(s)", "stream");
  PyObject* arguments[] = {nullptr, x, handle.get()};
  return PyObject_VectorcallMethod(export_call.method.name(), arguments + 1,
                                   1 | PY_VECTORCALL_ARGUMENTS_OFFSET, only_stream);
}

inline PyObject* request_plain(PyObject* x) {
  PyObject* arguments[] = {nullptr, x, export_call.version};
  PyObject* capsule = export_call.method.call(arguments + 1, export_call.keywords);
  return capsule != nullptr ? capsule : request_again(x);
}

/// Copies a CPU array to the device, on the importer's stream. Steals the array; null with an
/// exception set.
inline PyObject* send(Ref array, Place& place) try {
  const Facts* facts = array ? facts_of(array.get()) : nullptr;
  device::Stream mine = nullptr;
  if (facts == nullptr) return nullptr;
  const device::Entered inside = place.enter();
  if (!place.is_entered(inside) || !place.stream(mine)) return nullptr;
  Layout layout = facts->layout;
  const std::intptr_t low = layout.low();
  layout.readonly = false;
  const Block::Owner block =
      device_block(std::move(layout), facts->address, place, device::Memory::Device);
  // The source may be freed after this returns, so the host waits.
  if (!block ||
      !place.copy(block->address() + low, static_cast<std::byte*>(facts->address) + low,
                  block->extent(), mine) ||
      !place.finish(mine)) {
    return nullptr;
  }
  DLManagedTensorVersioned* exported = block->export_tensor(DLPACK_FLAG_BITMASK_IS_COPIED);
  return exported == nullptr ? PyErr_NoMemory() : adopt(exported, &place);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

/// Returns false with BufferError set if the capsule's device differs from `__dlpack_device__`.
/// Either may report pinned CPU memory as plain CPU memory.
inline bool is_same_device(DLDevice announced, const Array& array) {
  const DLDevice found = array.via == Via::kVersioned ? array.versioned->dl_tensor.device
                                                      : array.legacy->dl_tensor.device;
  if (is_on_host(found.device_type) || !is_on_host(announced.device_type)) return true;
  PyErr_Format(PyExc_BufferError, "__dlpack_device__ returned (%d, %d), the capsule has (%d, %d)",
               static_cast<int>(announced.device_type), static_cast<int>(announced.device_id),
               static_cast<int>(found.device_type), static_cast<int>(found.device_id));
  return false;
}

/// Importer.from_dlpack(x)
inline PyObject* import_dlpack(PyObject* self, PyObject* x) {
  Place* place = importer_of(self).place;
  DLDevice where{};
  if (!device_of(x, where)) return nullptr;
  Ref capsule;
  if (where.device_type == kDLCPU || (place != nullptr && is_on_host(where.device_type))) {
    capsule.reset(request_plain(x));
  } else if (place == nullptr) {
    capsule.reset(request_with(x, export_request().with_device, export_request().cpu));
  } else if (is_of(*place, where.device_type)) {
    device::Stream mine = nullptr;
    if (!place->stream(mine)) return nullptr;
    capsule.reset(request_on_stream(x, mine, *place));
  } else {
    return PyErr_Format(PyExc_BufferError, "native imports to %s, not from device (%d, %d)",
                        place->word().c_str(), static_cast<int>(where.device_type),
                        static_cast<int>(where.device_id));
  }
  if (!capsule) return nullptr;
  Ref taken(import_capsule(capsule.get(), place));
  if (!taken || !is_same_device(where, *array_of(taken.get()))) {
    drop_refused(capsule.release());
    return nullptr;
  }
  const bool from_cpu = place != nullptr && where.device_type == kDLCPU;
  return from_cpu ? send(std::move(taken), *place) : taken.release();
}

/// Importer.from_dlpack_c(x). The exchange API does not synchronize, so the consumer does.
inline PyObject* import_dlpack_c(PyObject* self, PyObject* x) {
  Place* place = importer_of(self).place;
  const DLPackExchangeAPI* api = table_cache.of(Py_TYPE(x));
  DLManagedTensorVersioned* managed = api == nullptr ? nullptr : exported_by(*api, x);
  if (managed == nullptr) return nullptr;
  const DLDevice where = managed->dl_tensor.device;
  if (place != nullptr && is_of(*place, where.device_type)) {
    device::Stream mine = nullptr;
    void* theirs = nullptr;
    if (api->current_work_stream == nullptr) {
      release_managed(managed);
      PyErr_SetString(PyExc_BufferError, "the table's current_work_stream is NULL");
      return nullptr;
    }
    if (api->current_work_stream(where.device_type, where.device_id, &theirs) != 0 ||
        !place->stream(mine) || !place->order(theirs, mine)) {
      release_managed(managed);
      return nullptr;
    }
  }
  return adopt(managed, place);
}

/// Makes the importer's stream wait for the dict's `stream`; false with an exception set.
inline bool wait_for_interface(PyObject* dict, Place& place) {
  static PyObject* const kStream = PyUnicode_InternFromString("stream");
  static PyObject* const kNumber = PyUnicode_InternFromString("version");
  PyObject* version = PyDict_GetItemWithError(dict, kNumber);
  const long known = version == nullptr ? 0 : PyLong_AsLong(version);
  if (PyErr_Occurred() != nullptr) return false;
  PyObject* stream = PyDict_GetItemWithError(dict, kStream);
  if (known < 3 || stream == nullptr || stream == Py_None) return PyErr_Occurred() == nullptr;
  const std::size_t number = PyLong_AsSize_t(stream);
  if (PyErr_Occurred() != nullptr) return false;
  if (number == 0) {
    PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__: stream 0 is not allowed");
    return false;
  }
  device::Stream mine = nullptr;
  return place.stream(mine) && place.order(reinterpret_cast<device::Stream>(number), mine);
}

/// Importer.from_cuda_array_interface(x)
inline PyObject* import_cuda_interface(PyObject* self, PyObject* x) try {
  static PyObject* const name = PyUnicode_InternFromString("__cuda_array_interface__");
  Place* place = importer_of(self).place;
  if (place == nullptr) {
    PyErr_SetString(PyExc_BufferError, "__cuda_array_interface__ cannot import to the CPU");
    return nullptr;
  }
  const Ref dict(PyObject_GetAttr(x, name));
  if (!dict) return nullptr;
  auto facts = std::make_unique<Facts>();
  if (!read_interface(dict.get(), *facts)) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_Format(PyExc_BufferError, "__cuda_array_interface__ does not follow version 3: %R",
                   dict.get());
    }
    return nullptr;
  }
  facts->device = place->device(device::Memory::Device);
  if (!wait_for_interface(dict.get(), *place)) return nullptr;
  return hold(Via::kCudaInterface, x, nullptr, std::move(facts));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

inline PyObject* make_importer(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const char* word = nullptr;
  if (!PyArg_ParseTuple(arguments, "s:Importer", &word)) return nullptr;
  Place* place = nullptr;
  if (std::string_view(word) != "cpu" && (place = Place::named(word)) == nullptr) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) importer_of(self).place = place;
  return self;
}

inline PyMethodDef importer_methods[] = {
    {"from_dlpack", &import_dlpack, METH_O,
     "from_dlpack(x, /)\n--\n\nImports through x.__dlpack__, with the importer's stream on the "
     "device; from another device to the\nCPU with dl_device."},
    {"from_dlpack_c", &import_dlpack_c, METH_O,
     "from_dlpack_c(x, /)\n--\n\nImports through the C exchange API; the stream waits for the "
     "producer's."},
    {"from_cuda_array_interface", &import_cuda_interface, METH_O,
     "from_cuda_array_interface(x, /)\n--\n\nImports through x.__cuda_array_interface__; the "
     "stream "
     "waits for the interface's."},
    {}};

inline bool make_importer_type() {
  name_type(importer_type, "dlbench._native_consumer.Importer",
            "Importer(device, /)\n--\n\nImports to one device: 'cpu', 'cuda:0', 'sim:0'.",
            sizeof(Importer), [](PyObject* self) { Py_TYPE(self)->tp_free(self); });
  importer_type.tp_new = &make_importer;
  importer_type.tp_methods = importer_methods;
  return PyType_Ready(&importer_type) == 0;
}

}  // namespace dlbench::native

#pragma once

#include "../../producers/native/place.hpp"
#include "array.hpp"
#include "exchange/api_table.hpp"
#include "method_cache.hpp"

namespace dlbench::native {

inline constexpr const char* kVersioned = "dltensor_versioned";
inline constexpr const char* kLegacy = "dltensor";

/// Is the device of the same kind, with any number?
inline bool is_of(const Place& place, DLDeviceType type) {
  const device::Table& table = place.table();
  return type == table.dl_device || (table.dl_pinned != 0 && type == table.dl_pinned) ||
         (table.dl_managed != 0 && type == table.dl_managed);
}

/// `place`: the target device, null for the CPU.
inline bool check_device(DLDevice where, const Place* place) {
  const DLDeviceType type = where.device_type;
  if (type == kDLCPU) [[likely]]
    return true;
  if (type == kDLCUDAHost || type == kDLROCMHost || type == kDLCUDAManaged) return true;
  if (place != nullptr && is_of(*place, type) && where.device_id == place->ordinal()) return true;
  const std::string reads =
      place == nullptr ? "imports only CPU memory" : "imports to " + place->word();
  PyErr_Format(PyExc_BufferError, "native %s, not device (%d, %d)", reads.c_str(),
               static_cast<int>(type), static_cast<int>(where.device_id));
  return false;
}

/// False with an exception set if the layout of the struct is unknown.
inline bool check_version(const DLManagedTensorVersioned& managed) {
  if (managed.version.major == DLPACK_MAJOR_VERSION) [[likely]]
    return true;
  PyErr_Format(PyExc_BufferError, "DLPack %u.%u: native supports only major version %d",
               managed.version.major, managed.version.minor, DLPACK_MAJOR_VERSION);
  return false;
}

/// Takes ownership, also if it fails; then null with an exception set.
inline PyObject* adopt(DLManagedTensorVersioned* managed, const Place* place = nullptr) {
  ++imports;
  const bool good = check_version(*managed) && check_device(managed->dl_tensor.device, place);
  Array* array = good ? new_array(Via::kVersioned) : nullptr;
  if (array == nullptr) {
    release_managed(managed);
    return nullptr;
  }
  array->versioned = managed;
  return &array->ob_base;
}

inline PyObject* adopt(DLManagedTensor* managed, const Place* place = nullptr) {
  ++imports;
  Array* array = check_device(managed->dl_tensor.device, place) ? new_array(Via::kLegacy) : nullptr;
  if (array == nullptr) {
    release_managed(managed);
    return nullptr;
  }
  array->legacy = managed;
  return &array->ob_base;
}

/// Consumes the capsule by renaming it.
inline PyObject* import_capsule(PyObject* capsule, const Place* place = nullptr) {
  // A producer's capsule names are static strings, so the address of the last name predicts the
  // kind. PyCapsule_GetPointer then compares the text.
  static DLBENCH_UNDER_GIL const char* last_versioned = nullptr;
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  if (name != nullptr && (name == last_versioned || std::strcmp(name, kVersioned) == 0))
      [[likely]] {
    last_versioned = name;
    void* content = PyCapsule_GetPointer(capsule, kVersioned);
    if (content == nullptr) return nullptr;
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return adopt(static_cast<DLManagedTensorVersioned*>(content), place);
  }
  if (name != nullptr && std::strcmp(name, kLegacy) == 0) {
    void* content = PyCapsule_GetPointer(capsule, name);
    PyCapsule_SetName(capsule, "used_dltensor");
    return adopt(static_cast<DLManagedTensor*>(content), place);
  }
  PyErr_Format(PyExc_BufferError, "__dlpack__ returned %R, not a DLPack capsule", capsule);
  return nullptr;
}

struct FromDlpack {
  MethodCache method;
  PyObject* version = nullptr;
  PyObject* keywords = nullptr;

  bool prepare() {
    version = Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
    keywords = Py_BuildValue("(N)", PyUnicode_InternFromString("max_version"));
    return method.prepare() && version != nullptr && keywords != nullptr;
  }
};
inline FromDlpack export_call;

/// A producer before DLPack 1.0 does not accept max_version.
inline PyObject* request_again(PyObject* x) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
  PyErr_Clear();
  return PyObject_VectorcallMethod(export_call.method.name(), &x, 1, nullptr);
}

/// Releases a capsule after a failed import and keeps the exception, because the capsule's
/// destructor may run the producer's code.
inline void drop_refused(PyObject* capsule) {
  const PendingError kept;
  Py_DECREF(capsule);
}

/// from_dlpack(x)
inline PyObject* from_dlpack(PyObject*, PyObject* x) {
  PyObject* arguments[] = {nullptr, x, export_call.version};
  PyObject* capsule = export_call.method.call(arguments + 1, export_call.keywords);
  if (capsule == nullptr) [[unlikely]] {
    capsule = request_again(x);
    if (capsule == nullptr) return nullptr;
  }
  PyObject* array = import_capsule(capsule);
  if (array == nullptr) [[unlikely]] {
    drop_refused(capsule);
  } else {
    Py_DECREF(capsule);
  }
  return array;
}

inline const DLPackExchangeAPI* published_in(PyObject* value) {
  constexpr const char* name = "dlpack_exchange_api";
  if (PyCapsule_IsValid(value, name)) {
    return static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(value, name));
  }
  if (PyLong_Check(value)) return static_cast<const DLPackExchangeAPI*>(PyLong_AsVoidPtr(value));
  return nullptr;
}

/// A type's table of the supported major version; null with an exception set.
inline const DLPackExchangeAPI* published_by(PyTypeObject* type) {
  const char* flaw = "";
  for (const char* name : {"__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"}) {
    const Ref value(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name));
    if (!value && !PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();
    const DLPackExchangeAPI* api = value ? published_in(value.get()) : nullptr;
    PyErr_Clear();
    if (api == nullptr) continue;
    const exchange::FoundTable found =
        exchange::find_table(api, [](std::uintptr_t, std::size_t) { return true; });
    if (found.table != nullptr) return found.table;
    if (found.flaw != nullptr) flaw = found.flaw;
  }
  PyErr_Format(PyExc_TypeError, "%s has no C exchange API%s%s", type->tp_name, *flaw ? ": " : "",
               flaw);
  return nullptr;
}

/// Tables by type. The types are kept alive, so that their addresses are not reused.
class TableCache {
 public:
  const DLPackExchangeAPI* of(PyTypeObject* type) {
    Entry& entry = entries_[reinterpret_cast<std::uintptr_t>(type) / 64 % kMost];
    if (entry.type == type) [[likely]]
      return entry.api;
    const DLPackExchangeAPI* api = published_by(type);
    if (api == nullptr) return nullptr;
    Py_INCREF(type);
    Py_XDECREF(reinterpret_cast<PyObject*>(entry.type));
    entry = {type, api};
    return api;
  }

 private:
  static constexpr std::size_t kMost = 16;
  struct Entry {
    PyTypeObject* type = nullptr;
    const DLPackExchangeAPI* api = nullptr;
  };
  Entry entries_[kMost];
};
inline TableCache table_cache;

/// Exports through the table; null with an exception set.
inline DLManagedTensorVersioned* exported_by(const DLPackExchangeAPI& api, PyObject* x) {
  DLManagedTensorVersioned* managed = nullptr;
  if (api.managed_tensor_from_py_object_no_sync(x, &managed) != 0) return nullptr;
  if (managed == nullptr) [[unlikely]] {
    PyErr_SetString(PyExc_BufferError,
                    "managed_tensor_from_py_object_no_sync returned 0 but set no tensor");
  }
  return managed;
}

/// from_dlpack_c(x)
inline PyObject* from_dlpack_c(PyObject*, PyObject* x) {
  const DLPackExchangeAPI* api = table_cache.of(Py_TYPE(x));
  DLManagedTensorVersioned* managed = api == nullptr ? nullptr : exported_by(*api, x);
  return managed == nullptr ? nullptr : adopt(managed);
}

}  // namespace dlbench::native

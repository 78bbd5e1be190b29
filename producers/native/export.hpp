#pragma once

#include "array.hpp"

namespace dlbench::native {

inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kLegacyName = "dltensor";

/// The keyword arguments of `__dlpack__`, borrowed; null if absent.
struct Request {
  PyObject* max_version = nullptr;
  PyObject* stream = nullptr;
  PyObject* dl_device = nullptr;
  PyObject* copy = nullptr;

  /// False with an exception set.
  bool read(PyObject* const* arguments, Py_ssize_t positional, PyObject* keywords) {
    if (positional != 0) {
      PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keyword arguments only");
      return false;
    }
    const Py_ssize_t count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject** place = place_of(PyTuple_GET_ITEM(keywords, i));
      if (place == nullptr) return false;
      *place = arguments[i] == Py_None ? nullptr : arguments[i];
    }
    return true;
  }

 private:
  struct Names {
    PyObject* max_version = PyUnicode_InternFromString("max_version");
    PyObject* stream = PyUnicode_InternFromString("stream");
    PyObject* dl_device = PyUnicode_InternFromString("dl_device");
    PyObject* copy = PyUnicode_InternFromString("copy");
  };

  PyObject** place_of(PyObject* name) {
    static const Names names;
    if (name == names.max_version) [[likely]]
      return &max_version;
    if (name == names.stream) return &stream;
    if (name == names.dl_device) return &dl_device;
    if (name == names.copy) return &copy;
    // Keywords need not be interned.
    if (PyUnicode_Compare(name, names.max_version) == 0) return &max_version;
    if (PyUnicode_Compare(name, names.stream) == 0) return &stream;
    if (PyUnicode_Compare(name, names.dl_device) == 0) return &dl_device;
    if (PyUnicode_Compare(name, names.copy) == 0) return &copy;
    PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument %R", name);
    return nullptr;
  }
};

/// Caches the last request, because callers often pass the same constant tuples. It owns the
/// tuples, which are immutable, so equal pointers mean an equal request.
struct LastRequest {
  PyObject* keywords = nullptr;  // ("max_version",)
  PyObject* version = nullptr;
  bool versioned = false;

  bool is(PyObject* const* arguments, PyObject* names) const {
    return names == keywords && keywords != nullptr && arguments[0] == version;
  }
  void keep(PyObject* names, PyObject* wanted, bool answer) {
    Py_INCREF(names);
    Py_INCREF(wanted);
    Py_XDECREF(std::exchange(keywords, names));
    Py_XDECREF(std::exchange(version, wanted));
    versioned = answer;
  }
};
inline LastRequest last_request;

/// The first of two ints, as in (1, 3); -1 with an exception set.
inline long first_of_pair(PyObject* pair, const char* what, long& second) {
  if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
    PyErr_Format(PyExc_TypeError, "%s must be a tuple of two ints", what);
    return -1;
  }
  const long first = PyLong_AsLong(PyTuple_GET_ITEM(pair, 0));
  second = PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
  return first == -1 || second == -1 ? (PyErr_Occurred() ? -1 : first) : first;
}

// A consumed capsule has another name, so this applies only to unconsumed ones.
inline void drop_versioned(PyObject* capsule) {
  if (PyCapsule_GetName(capsule) != kVersionedName) return;
  auto* managed =
      static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName));
  managed->deleter(managed);
}
inline void drop_legacy(PyObject* capsule) {
  if (PyCapsule_GetName(capsule) != kLegacyName) return;
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kLegacyName));
  managed->deleter(managed);
}

template <typename Managed>
PyObject* capsule_with(Managed* managed, const char* name, PyCapsule_Destructor destructor) {
  if (managed == nullptr) return PyErr_NoMemory();
  PyObject* capsule = PyCapsule_New(managed, name, destructor);
  if (capsule == nullptr) managed->deleter(managed);
  return capsule;
}

inline PyObject* export_tensor(Block& block, bool versioned, bool copied) {
  if (versioned) {
    std::uint64_t flags = copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0;
    if (block.layout().readonly) flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
    return capsule_with(block.export_tensor(flags), kVersionedName, &drop_versioned);
  }
  if (block.layout().readonly) {
    PyErr_SetString(PyExc_BufferError,
                    "read-only memory cannot be exported without max_version=(1, 0) or newer");
    return nullptr;
  }
  return capsule_with(block.export_legacy(), kLegacyName, &drop_legacy);
}

inline PyObject* answer(Block& block, PyObject* const* arguments, Py_ssize_t positional,
                        PyObject* keywords) {
  Request request;
  if (!request.read(arguments, positional, keywords)) return nullptr;
  bool versioned = false;
  if (request.max_version != nullptr) {
    long minor = 0;
    const long major = first_of_pair(request.max_version, "max_version", minor);
    if (major == -1 && PyErr_Occurred()) return nullptr;
    versioned = major >= 1;
    if (PyTuple_GET_SIZE(keywords) == 1)
      last_request.keep(keywords, request.max_version, versioned);
  }
  if (request.stream != nullptr) {
    PyErr_SetString(PyExc_ValueError, "stream must be None for CPU memory");
    return nullptr;
  }
  if (request.dl_device != nullptr) {
    long id = 0;
    const long type = first_of_pair(request.dl_device, "dl_device", id);
    if (type == -1 && PyErr_Occurred()) return nullptr;
    if (type != kDLCPU || id != 0) {
      PyErr_SetString(PyExc_BufferError, "dl_device must be (1, 0) for CPU memory");
      return nullptr;
    }
  }
  if (request.copy != nullptr) {
    const int copy = PyObject_IsTrue(request.copy);
    if (copy < 0) return nullptr;
    if (copy == 1) return export_tensor(*Block::compact_copy_of(block), versioned, true);
  }
  return check_strides(block) ? export_tensor(block, versioned, false) : nullptr;
}

/// `Array.__dlpack__`.
inline PyObject* dlpack(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                        PyObject* keywords) try {
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.call("__dlpack__", arguments, positional, keywords);
  Block& block = block_of(self);
  if (positional == 0 && last_request.is(arguments, keywords) && block.fits_dlpack()) [[likely]] {
    return export_tensor(block, last_request.versioned, false);
  }
  return answer(block, arguments, positional, keywords);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

/// `Array.__dlpack_device__`.
inline PyObject* dlpack_device(PyObject*, PyObject*) {
  static PyObject* const cpu = Py_BuildValue("(ii)", static_cast<int>(kDLCPU), 0);
  Log& log = Log::instance();
  if (log.is_on()) [[unlikely]]
    log.line("__dlpack_device__()");
  return Py_NewRef(cpu);
}

}  // namespace dlbench::native

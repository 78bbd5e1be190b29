#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "check/tensors/module.hpp"
#include "exchange/python/pending_error.hpp"

namespace dlbench::check {

PyTypeObject imported_type{};

namespace {

struct ImportedTensor {
  PyObject ob_base;
  DLManagedTensor* legacy;
  DLManagedTensorVersioned* versioned;
};

ImportedTensor& imported_of(PyObject* object) {
  return *reinterpret_cast<ImportedTensor*>(object);
}

/// The two pointers of an ImportedTensor, one of them null. The deleter may be called on any
/// thread.
struct Held {
  DLManagedTensor* legacy = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;

  void release() const {
    if (legacy != nullptr && legacy->deleter != nullptr) legacy->deleter(legacy);
    if (versioned != nullptr && versioned->deleter != nullptr) versioned->deleter(versioned);
  }
};

Held detach(ImportedTensor& imported_tensor) {
  return {std::exchange(imported_tensor.legacy, nullptr),
          std::exchange(imported_tensor.versioned, nullptr)};
}

void drop(PyObject* self) {
  const PendingError kept;
  detach(imported_of(self)).release();
  Py_TYPE(self)->tp_free(self);
}

PyObject* facts(PyObject* self, void*) {
  const ImportedTensor& imported_tensor = imported_of(self);
  if (imported_tensor.legacy != nullptr) return facts_of(*imported_tensor.legacy);
  if (imported_tensor.versioned != nullptr) return facts_of(*imported_tensor.versioned);
  PyErr_SetString(PyExc_ValueError, "the tensor was deleted");
  return nullptr;
}

// Released at the exit of the C library, after the interpreter has ended.
std::vector<Held>& deferred_to_exit() {
  static std::vector<Held>& all = *[] {
    std::atexit([] {
      for (const Held& held : deferred_to_exit()) held.release();
    });
    return new std::vector<Held>;
  }();
  return all;
}

PyObject* release(PyObject* self, PyObject* arguments) {
  const char* word = "here";
  if (!PyArg_ParseTuple(arguments, "|s:release", &word)) return nullptr;
  const std::string_view how = word;
  const Held held = detach(imported_of(self));
  if (how == "here") {
    held.release();
  } else if (how == "without-gil") {
    Py_BEGIN_ALLOW_THREADS;
    held.release();
    Py_END_ALLOW_THREADS;
  } else if (how == "thread") {
    Py_BEGIN_ALLOW_THREADS;
    std::thread([held] {
      const PyGILState_STATE state = PyGILState_Ensure();
      held.release();
      PyGILState_Release(state);
    }).join();
    Py_END_ALLOW_THREADS;
  } else if (how == "at-exit") {
    deferred_to_exit().push_back(held);
  } else {
    PyErr_Format(PyExc_ValueError, "unknown value '%s' for how", word);
    return nullptr;
  }
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"release", guarded<&release>, METH_VARARGS,
     "release(how='here')\n--\n\nCall the deleter: 'here'; 'without-gil'; in a new 'thread' "
     "that holds the GIL;\nor 'at-exit', after the interpreter has ended."},
    {}};
PyGetSetDef properties[] = {{"facts", &facts, nullptr, "The fields, as from read().", nullptr}, {}};

template <typename Managed>
PyObject* owner(Managed* managed, Managed* ImportedTensor::*place) {
  PyObject* self = imported_type.tp_alloc(&imported_type, 0);
  if (self == nullptr) {
    const PendingError kept;
    if (managed->deleter != nullptr) managed->deleter(managed);
    return nullptr;
  }
  imported_of(self).*place = managed;
  return self;
}

}  // namespace

PyObject* own(DLManagedTensorVersioned* managed) {
  return owner(managed, &ImportedTensor::versioned);
}
PyObject* own(DLManagedTensor* managed) {
  return owner(managed, &ImportedTensor::legacy);
}

PyObject* import_capsule(PyObject*, PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kVersionedName)) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName));
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return own(managed);
  }
  if (PyCapsule_IsValid(capsule, kLegacyName)) {
    auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kLegacyName));
    PyCapsule_SetName(capsule, "used_dltensor");
    return own(managed);
  }
  PyErr_Format(PyExc_ValueError, "%R is not an unconsumed DLPack capsule", capsule);
  return nullptr;
}

bool ready_imported_type() {
  name_type(imported_type, "dlbench._check.ImportedTensor",
            "A tensor from a capsule or a C exchange API; deleted with the object.",
            sizeof(ImportedTensor), &drop);
  imported_type.tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  imported_type.tp_methods = methods;
  imported_type.tp_getset = properties;
  return PyType_Ready(&imported_type) == 0;
}

}  // namespace dlbench::check

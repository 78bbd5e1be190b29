#pragma once

#include <dlpack/dlpack.h>

#include <cstring>
#include <new>
#include <string>

#include "../../producers/native/array_struct.hpp"
#include "../../producers/native/layout.hpp"
#include "../../producers/native/python.hpp"
#include "exchange/python/pending_error.hpp"

namespace dlbench::native {

/// The kind of an import.
enum class Via : unsigned char {
  kVersioned,
  kLegacy,
  kBuffer,
  kInterface,
  kStruct,
  kCudaInterface
};

/// The description of an array's memory, read on request. For an unknown dtype `layout.dtype` is an
/// unsigned integer of the same width.
struct Facts {
  Layout layout;
  void* address = nullptr;
  std::string dtype;
  DLDevice device{kDLCPU, 0};
};

/// The native consumer's result. It owns the imported object and reads it on request.
struct Array {
  PyObject ob_base;
  Via via;
  Facts* facts;  // null until requested, except for the two interfaces
  union {
    DLManagedTensorVersioned* versioned;
    DLManagedTensor* legacy;
    Py_buffer buffer;
    struct {
      PyObject* source;
      PyObject* capsule;  // for kStruct, otherwise null
    } owner;
  };
};

inline PyTypeObject array_type{};
inline Count imports = 0;  // number of imported managed tensors
inline Count deleted = 0;

inline Array* array_of(PyObject* self) {
  return reinterpret_cast<Array*>(self);
}

/// Freed objects that are reused by the next import. Protected by the GIL.
class FreeList {
 public:
  PyObject* pop() {
    if (count_ == 0) [[unlikely]]
      return _PyObject_New(&array_type);
    return PyObject_Init(kept_[--count_], &array_type);
  }
  void push(PyObject* object) {
    if (count_ < kMost) [[likely]] {
      kept_[count_++] = object;
    } else {
      PyObject_Free(object);
    }
  }

 private:
  static constexpr std::size_t kMost = 16;
  PyObject* kept_[kMost] = {};
  std::size_t count_ = 0;
};
inline DLBENCH_UNDER_GIL FreeList free_list;

/// A new array without an import; null with an exception set.
inline Array* new_array(Via via) {
  Array* array = array_of(free_list.pop());
  if (array == nullptr) return nullptr;
  array->via = via;
  array->facts = nullptr;
  return array;
}

template <typename Managed>
void release_managed(Managed* managed) {
  ++deleted;
  const PendingError kept;
  if (managed->deleter != nullptr) managed->deleter(managed);
}

inline void free_array(PyObject* self) {
  Array* array = array_of(self);
  delete array->facts;
  switch (array->via) {
    case Via::kVersioned:
      release_managed(array->versioned);
      break;
    case Via::kLegacy:
      release_managed(array->legacy);
      break;
    case Via::kBuffer: {
      const PendingError kept;
      PyBuffer_Release(&array->buffer);
      break;
    }
    case Via::kInterface:
    case Via::kCudaInterface:
    case Via::kStruct:
      Py_DECREF(array->owner.source);
      Py_XDECREF(array->owner.capsule);
      break;
  }
  free_list.push(self);
}

}  // namespace dlbench::native

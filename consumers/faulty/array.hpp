#pragma once

#include <array>
#include <thread>

#include "../../producers/faulty/fault.hpp"
#include "../native/buffer.hpp"

namespace dlbench::faulty {

/// The consumer's faults, in the order of kFaults.
enum class Kind : std::size_t {
  honest,
  slow_import,
  work,
  silent_copy,
  late_read,
  lazy_copy,
  copy_back,
  values_changed,
  read_only_ignored,
  keeps_capsule_name,
  early_free,
  double_free,
  never_free,
};

inline constexpr std::array<std::string_view, 13> kFaults{
    "honest",     "slow-import", "work",           "silent-copy",       "late-read",
    "lazy-copy",  "copy-back",   "values-changed", "read-only-ignored", "keeps-capsule-name",
    "early-free", "double-free", "never-free"};

/// A copy of the imported memory.
struct Copy {
  std::unique_ptr<std::byte[]> bytes;
  std::byte* source = nullptr;  // the lowest copied byte
  std::size_t extent = 0;
  std::thread reader;  // thread of a late read
};

/// The native consumer's result, with a fault.
struct Array {
  native::Array native;
  Fault* fault;      // owned
  Copy* copy;        // owned; null if the source's memory is used
  bool is_returned;  // the borrowed tensor was deleted before the array
};

inline Array& array_of(PyObject* self) {
  return *reinterpret_cast<Array*>(self);
}
inline Kind kind_of(const Array& array) {
  return static_cast<Kind>(array.fault->kind);
}

/// Deletes the borrowed tensor, once or as often as the fault requires.
inline void release_managed(Array& array, int times = 1) {
  array.is_returned = true;
  // The address of the deleter is read first, because the second call uses freed memory.
  if (array.native.via == native::Via::kLegacy) {
    DLManagedTensor* managed = array.native.legacy;
    const auto deleter = managed->deleter;
    for (int i = 0; i < times && deleter != nullptr; ++i) deleter(managed);
  } else {
    DLManagedTensorVersioned* managed = array.native.versioned;
    const auto deleter = managed->deleter;
    for (int i = 0; i < times && deleter != nullptr; ++i) deleter(managed);
  }
}

/// Waits for a late read without the GIL, which the deleter may need.
inline void join(Array& array) {
  if (array.copy == nullptr || !array.copy->reader.joinable()) return;
  Py_BEGIN_ALLOW_THREADS;
  array.copy->reader.join();
  Py_END_ALLOW_THREADS;
}

inline void free_array(PyObject* self) {
  Array& array = array_of(self);
  join(array);
  if (kind_of(array) == Kind::copy_back && array.copy != nullptr) {
    std::memcpy(array.copy->source, array.copy->bytes.get(), array.copy->extent);
  }
  if (!array.is_returned && kind_of(array) != Kind::never_free) {
    release_managed(array, kind_of(array) == Kind::double_free ? 2 : 1);
  }
  const std::unique_ptr<Copy> copy(array.copy);
  const std::unique_ptr<native::Facts> facts(array.native.facts);
  Py_DECREF(reinterpret_cast<PyObject*>(array.fault));
  native::free_list.push(self);
}

}  // namespace dlbench::faulty

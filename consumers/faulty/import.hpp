#pragma once

#include "../native/import_dlpack.hpp"
#include "array.hpp"

namespace dlbench::faulty {

/// Makes room for a copy, to which the array then refers. False with an exception set if the memory
/// cannot be described.
inline bool make_room(Array& array) {
  if (native::facts_of(&array.native.ob_base) == nullptr) return false;
  native::Facts& facts = *array.native.facts;
  const std::intptr_t low = facts.layout.low();
  auto copy = std::make_unique<Copy>();
  copy->source = static_cast<std::byte*>(facts.address) + low;
  copy->extent = static_cast<std::size_t>(facts.layout.high() - low);
  copy->bytes = std::make_unique<std::byte[]>(std::max<std::size_t>(copy->extent, 1));
  facts.address = copy->bytes.get() - low;
  facts.layout.readonly = false;
  array.copy = copy.release();
  return true;
}

inline void read_source(const Copy& copy) {
  std::memcpy(copy.bytes.get(), copy.source, copy.extent);
}

inline bool copy_now(Array& array) {
  if (!make_room(array)) return false;
  read_source(*array.copy);
  return true;
}

inline bool copy_later(Array& array) {
  if (!make_room(array)) return false;
  // The thread waits, so that the call has returned before the first byte is read.
  array.copy->reader = std::thread([&array] {
    array.fault->delay->sleep();
    read_source(*array.copy);
    release_managed(array);
  });
  return true;
}

/// Sets the source's first element to zero.
inline bool write_source(Array& array, bool only_read_only) {
  const native::Facts* facts = native::facts_of(&array.native.ob_base);
  if (facts == nullptr) return false;
  const native::Layout& layout = facts->layout;
  if ((layout.readonly || !only_read_only) && layout.elements() > 0) {
    std::memset(facts->address, 0, layout.dtype->bytes);
  }
  return true;
}

/// Makes a lazy copy, on the first read.
inline bool read_memory(Array& array) {
  if (kind_of(array) != Kind::lazy_copy || array.copy != nullptr) return true;
  if (!copy_now(array)) return false;
  release_managed(array);
  return true;
}

inline bool plant(Array& array) {
  switch (kind_of(array)) {
    case Kind::silent_copy:
      if (!copy_now(array)) return false;
      release_managed(array);
      return true;
    case Kind::copy_back:
      return copy_now(array);
    case Kind::late_read:
      return copy_later(array);
    case Kind::values_changed:
      return write_source(array, false);
    case Kind::read_only_ignored:
      return write_source(array, true);
    case Kind::early_free:
      if (native::facts_of(&array.native.ob_base) == nullptr) return false;
      release_managed(array);
      return true;
    default:
      return true;
  }
}

/// Consumes a capsule without renaming it, so that its destructor deletes the content too.
inline PyObject* import_without_renaming(PyObject* x) {
  PyObject* arguments[] = {nullptr, x, native::export_call.version};
  const dlbench::Ref capsule(
      native::export_call.method.call(arguments + 1, native::export_call.keywords));
  if (!capsule) return nullptr;
  const char* name = PyCapsule_GetName(capsule.get());
  if (name == nullptr) return nullptr;
  const dlbench::Ref taken(PyCapsule_New(PyCapsule_GetPointer(capsule.get(), name), name, nullptr));
  return taken ? native::import_capsule(taken.get()) : nullptr;
}

/// Makes dependent multiplications: their number of instructions and their time are exact.
inline void work(std::uint64_t steps) {
  std::uint64_t value = steps;
  for (std::uint64_t step = 0; step < steps; ++step) {
    value = value * 6364136223846793005U + 1;
    asm volatile("" : "+r"(value));  // prevents the compiler from computing the value
  }
}

/// Turns a correct import into a faulty one. Steals the reference.
inline PyObject* finished(PyObject* imported, Fault& fault) try {
  if (imported == nullptr) return nullptr;
  Array& array = array_of(imported);
  array.fault = fault_of(Py_NewRef(reinterpret_cast<PyObject*>(&fault)));
  array.copy = nullptr;
  array.is_returned = false;
  dlbench::Ref made(imported);
  return plant(array) ? made.release() : nullptr;
} catch (const std::exception& error) {
  PyErr_SetString(PyExc_RuntimeError, error.what());
  return nullptr;
}

/// `Fault.from_dlpack(x)`
inline PyObject* from_dlpack(PyObject* self, PyObject* x) {
  Fault& fault = *fault_of(self);
  const auto kind = static_cast<Kind>(fault.kind);
  if (kind == Kind::slow_import) fault.delay->spin();
  if (kind == Kind::work) work(fault.number);
  return finished(kind == Kind::keeps_capsule_name ? import_without_renaming(x)
                                                   : native::from_dlpack(nullptr, x),
                  fault);
}

/// `Fault.from_dlpack_c(x)`
inline PyObject* from_dlpack_c(PyObject* self, PyObject* x) {
  Fault& fault = *fault_of(self);
  const auto kind = static_cast<Kind>(fault.kind);
  if (kind == Kind::slow_import) fault.delay->spin();
  if (kind == Kind::work) work(fault.number);
  return finished(native::from_dlpack_c(nullptr, x), fault);
}

}  // namespace dlbench::faulty

#pragma once

#include "../native/export.hpp"
#include "exported.hpp"

namespace dlbench::faulty {

// A destructor that frees the export even if it was consumed.
template <typename Managed>
void drop_regardless(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  managed->deleter(managed);
}

// A destructor that also invalidates the exported memory. The pages stay mapped, so that the
// consumer reads poison instead of reused memory.
template <typename Managed>
void drop_memory(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  auto* exported = static_cast<Exported<Managed>*>(PyCapsule_GetContext(capsule));
  if (name == native::kVersionedName || name == native::kLegacyName) {
    managed->deleter(managed);
  } else {
    std::memset(exported->low, 0xDD, exported->extent);
  }
  exported->let_go();
}

}  // namespace dlbench::faulty

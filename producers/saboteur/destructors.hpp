#pragma once

#include "../native/export.hpp"
#include "lent.hpp"

namespace dlbench::saboteur {

// A destructor that frees what was lent, whether or not somebody has taken it.
template <typename Managed>
void drop_regardless(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  managed->deleter(managed);
}

// A destructor that takes the capsule's memory with it. The pages stay, so that the consumer reads
// poison rather than what malloc made of them.
template <typename Managed>
void drop_memory(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  auto* lent = static_cast<Lent<Managed>*>(PyCapsule_GetContext(capsule));
  if (name == native::kVersionedName || name == native::kLegacyName) {
    managed->deleter(managed);
  } else {
    std::memset(lent->low, 0xDD, lent->extent);
  }
  lent->let_go();
}

}  // namespace dlbench::saboteur

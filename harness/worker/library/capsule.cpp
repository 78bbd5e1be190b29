#include "worker/library/capsule.hpp"

namespace dlbench::worker {

void unreadable(const exchange::ViewError& error) {
  if (dynamic_cast<const exchange::UnknownFormatError*>(&error) != nullptr) {
    throw Failure{Outcome::unproven, "", std::string("dlbench cannot read it: ") + error.what()};
  }
  throw Failure{Outcome::wrong, "", std::string("not a numeric array: ") + error.what()};
}

bool is_dlpack_capsule(PyObject* object) {
  return PyCapsule_IsValid(object, "dltensor_versioned") || PyCapsule_IsValid(object, "dltensor");
}

exchange::View view_of_capsule(PyObject* capsule) try {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    return exchange::read(*static_cast<const DLManagedTensorVersioned*>(
        PyCapsule_GetPointer(capsule, "dltensor_versioned")));
  }
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    return exchange::read(
        *static_cast<const DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
  }
  throw Failure{Outcome::wrong, "", "not a DLPack capsule: " + repr_of(capsule)};
} catch (const exchange::ViewError& error) {
  unreadable(error);
}

CapsuleFacts facts_of_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) return {"legacy", {}, {}};
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return {};
  return facts_of(*static_cast<const DLManagedTensorVersioned*>(
      PyCapsule_GetPointer(capsule, "dltensor_versioned")));
}

CapsuleFacts facts_of(const DLManagedTensorVersioned& managed) {
  CapsuleFacts facts{"versioned", {managed.version.major, managed.version.minor}, {}};
  if (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) facts.flags.emplace_back("read-only");
  if (managed.flags & DLPACK_FLAG_BITMASK_IS_COPIED) facts.flags.emplace_back("is-copied");
  if (managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) {
    facts.flags.emplace_back("subbyte-padded");
  }
  return facts;
}

}  // namespace dlbench::worker

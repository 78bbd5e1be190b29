#pragma once

#include <dlpack/dlpack.h>

#include <string>
#include <vector>

#include "exchange/read.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Facts about the content of a DLPack capsule.
struct CapsuleFacts {
  std::string struct_name;  ///< "legacy" or "versioned"
  std::vector<std::uint32_t> version;
  std::vector<std::string> flags;
};

/// Does the capsule's name mean an unconsumed tensor?
bool is_dlpack_capsule(PyObject* object);

/// Reads a capsule without consuming it. Throws Failure for other capsules and for invalid content.
exchange::View view_of_capsule(PyObject* capsule);
CapsuleFacts facts_of_capsule(PyObject* capsule);
CapsuleFacts facts_of(const DLManagedTensorVersioned& managed);

/// Throws Failure: `wrong`, because an impossible description is an error of the library;
/// `no-protocol` for an array of Python objects, which has no data.
[[noreturn]] void unreadable(const exchange::ViewError& error);

}  // namespace dlbench::worker

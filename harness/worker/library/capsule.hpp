#pragma once

#include <dlpack/dlpack.h>

#include <string>
#include <vector>

#include "exchange/read.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// What a DLPack capsule says of itself.
struct CapsuleFacts {
  std::string struct_name;  ///< "legacy" or "versioned"
  std::vector<std::uint32_t> version;
  std::vector<std::string> flags;
};

/// Is it named as one that holds a tensor, not used yet?
bool is_dlpack_capsule(PyObject* object);

/// Reads a capsule without consuming it. Throws Failure for other capsules and for broken content.
exchange::View view_of_capsule(PyObject* capsule);
CapsuleFacts facts_of_capsule(PyObject* capsule);
CapsuleFacts facts_of(const DLManagedTensorVersioned& managed);

/// Throws Failure `wrong`: a description that cannot be true is the library's fault, not a gap of
/// the instrument's.
[[noreturn]] void unreadable(const exchange::ViewError& error);

}  // namespace dlbench::worker

#pragma once

#include <dlpack/dlpack.h>

#include <string>
#include <vector>

#include "exchange/read.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The description in a DLPack capsule.
struct CapsuleFacts {
  std::string struct_name;  ///< "legacy" or "versioned"
  std::vector<std::uint32_t> version;
  std::vector<std::string> flags;
};

/// Does it by its name hold a tensor which was not consumed yet?
bool is_dlpack_capsule(PyObject* object);

/// Reads a capsule without consuming it. Throws Failure for other capsules and for broken content.
exchange::View view_of_capsule(PyObject* capsule);
CapsuleFacts facts_of_capsule(PyObject* capsule);
CapsuleFacts facts_of(const DLManagedTensorVersioned& managed);

/// Throws Failure: `wrong`, because an impossible description is the library's error, not a gap of
/// the instrument; `no-protocol` for an array of Python objects, which imports no data.
[[noreturn]] void unreadable(const exchange::ViewError& error);

}  // namespace dlbench::worker

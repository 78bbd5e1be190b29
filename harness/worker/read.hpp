#pragma once

#include <dlpack/dlpack.h>

#include <memory>
#include <string>
#include <vector>

#include "exchange/view.hpp"
#include "worker/adapter.hpp"

namespace dlbench::worker {

/// What a DLPack capsule says of itself.
struct CapsuleFacts {
  std::string struct_name;  ///< "legacy" or "versioned"
  std::vector<std::uint32_t> version;
  std::vector<std::string> flags;
};

/// Reads a capsule without consuming it. Throws Failure for other capsules and for broken content.
exchange::View view_of_capsule(PyObject* capsule);
CapsuleFacts facts_of_capsule(PyObject* capsule);
CapsuleFacts facts_of(const DLManagedTensorVersioned& managed);

/// What an `__array_interface__` dict, an `__array_struct__` capsule or an array says. Throws
/// Failure or ViewError.
exchange::View view_of_description(PyObject* handed_over);

/// A view, and what keeps its memory alive.
struct Held {
  exchange::View view;
  std::shared_ptr<void> keeper;
};

/// Where an array lies: what DLPack, buffer, `__array_interface__` or `__array_struct__` say,
/// whichever answers first, of the array or of what its library's `memory(array)` returns.
/// `address(array)` overrides the address, since an export may copy, unless it returns None; with
/// it an array that none of them reads is as `values(array)` says.
/// Throws Failure `unproven` where nothing answers.
Held read_place(PyObject* array, const Library& library);

/// What an array holds: the same, but for libraries with a `values` of their own; of a device's
/// memory a copy that the host can read.
Held read_values(PyObject* array, const Library& library);

}  // namespace dlbench::worker

#pragma once

#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// A library's own export call for a protocol that its arrays have no attribute for: an entry of
/// EXPORTS.
struct Export {
  std::string protocol;
  Ref function;  ///< of one argument, the array; empty: the library has no such call

  explicit operator bool() const { return static_cast<bool>(function); }
};

/// The entry of the producer's EXPORTS for this protocol: its own, or for `dlpack` that of either
/// struct.
Export export_for(const Library& library, const std::string& protocol);

/// The names in its EXPORTS, in the order in which protocols are printed.
std::vector<std::string> exports_of(const Library& library);

/// An object that offers that one protocol in the place of the array, and answers through the
/// library's call. It rejects arguments that the call does not accept, as an old producer does.
/// Throws Failure where the call fails: a DLPack device is known only from a capsule.
Ref make_exported(PyObject* array, const Export& by);

/// The same for another array of the same device, without a call.
Ref make_exported_like(PyObject* exported, PyObject* array);

/// Is it such an object?
bool is_exported(PyObject* object);

/// Is it such an object, and did it reject its last request itself, without a call of the library?
bool refused_itself(PyObject* object);

/// The address of an array from a library's EXPORTS, or an empty Ref where none of them has it.
Ref exported_place(PyObject* array, const Library& library);

}  // namespace dlbench::worker

#pragma once

#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// A library's own call that exports what no attribute of its arrays does: an entry of EXPORTS.
struct Export {
  std::string protocol;
  Ref function;  ///< of one argument, the array; empty: the library names none

  explicit operator bool() const { return static_cast<bool>(function); }
};

/// The entry of the producer's EXPORTS that gives an array by this protocol: its own, or for
/// `dlpack` that of either struct.
Export export_for(const Library& library, const std::string& protocol);

/// The names in its EXPORTS, in the order in which protocols are printed.
std::vector<std::string> exports_of(const Library& library);

/// An object that shows that one protocol and answers by the library's call, in the place of the
/// array. What the call takes no argument for is refused, as a producer of old would.
/// Throws Failure where the call fails: a DLPack device can only be told from a capsule.
Ref make_exported(PyObject* array, const Export& by);

/// The same for another array of the same device, which is asked nothing.
Ref make_exported_like(PyObject* exported, PyObject* array);

/// Was it made here?
bool is_exported(PyObject* object);

/// Was it made here, and did it refuse its last call itself, so that no library was asked?
bool refused_itself(PyObject* object);

/// What a library's EXPORTS say of where an array lies, or an empty Ref: none of them does.
Ref exported_place(PyObject* array, const Library& library);

}  // namespace dlbench::worker

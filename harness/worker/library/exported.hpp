#pragma once

#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// An entry of EXPORTS: a library's export function for a protocol without an attribute.
struct Export {
  std::string protocol;
  Ref function;  ///< takes the array; empty: the library has no such function

  explicit operator bool() const { return static_cast<bool>(function); }
};

/// The entry of the producer's EXPORTS for this protocol; for `dlpack` also that of either struct.
Export export_for(const Library& library, const std::string& protocol);

/// The protocols in its EXPORTS, in the order in which protocols are printed.
std::vector<std::string> exports_of(const Library& library);

/// Makes an object that replaces the array and offers only this protocol, through the library's
/// function. Like an old producer, it rejects arguments that the function does not accept. Calls
/// the function once to read the DLPack device from its capsule; throws Failure if it fails.
Ref make_exported(PyObject* array, const Export& by);

/// The same for another array on the same device, without a call.
Ref make_exported_like(PyObject* exported, PyObject* array);

/// Is the object such a replacement?
bool is_exported(PyObject* object);

/// Did such a replacement reject its last request without calling the library?
bool refused_itself(PyObject* object);

/// The result of the first function in the library's EXPORTS that does not copy, or an empty Ref.
Ref exported_place(PyObject* array, const Library& library);

}  // namespace dlbench::worker

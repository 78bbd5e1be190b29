#pragma once

#include <dlpack/dlpack.h>

#include <string>

#include "worker/base/py.hpp"

namespace dlbench::worker {

inline constexpr const char* kExchangeApiName = "__dlpack_c_exchange_api__";
inline constexpr const char* kExchangeApiCapsule = "dlpack_exchange_api";

/// The C exchange API of a type (dlpack.h v1.3), as a capsule or, under the older name, as an
/// integer. Null if the type has no usable table of our major version.
const DLPackExchangeAPI* exchange_api_of(PyTypeObject* type);

/// Why the type's API cannot be used; empty if it can, and if the type has none.
std::string flaw_of_exchange_api(PyTypeObject* type);

/// Exports through the table. Sets an exception if the function reports success without a tensor.
int managed_from(const DLPackExchangeAPI& api, PyObject* x, DLManagedTensorVersioned** out);

}  // namespace dlbench::worker

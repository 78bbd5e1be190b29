#pragma once

#include <dlpack/dlpack.h>

#include <string>

#include "worker/base/py.hpp"

namespace dlbench::worker {

inline constexpr const char* kExchangeApiName = "__dlpack_c_exchange_api__";
inline constexpr const char* kExchangeApiCapsule = "dlpack_exchange_api";

/// The C exchange API that a type publishes (dlpack.h v1.3), as a capsule or, under the older name,
/// as an integer. Null where there is none of our major version that could be used.
const DLPackExchangeAPI* exchange_api_of(PyTypeObject* type);

/// Why what a type publishes cannot be used; empty where it can, and where there is nothing.
std::string flaw_of_exchange_api(PyTypeObject* type);

/// The table's export; an exception where it claims to have made a tensor and has not.
int managed_from(const DLPackExchangeAPI& api, PyObject* x, DLManagedTensorVersioned** out);

}  // namespace dlbench::worker

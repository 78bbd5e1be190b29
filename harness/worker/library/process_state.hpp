#pragma once

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// What all libraries of this process share and Python's own modules do not show, as a dict of
/// dicts of texts that can be compared: the handler of each signal, the environment variables as C
/// reads them (a digest of each), Python's allocators, the arithmetic of floating-point numbers,
/// and the shared objects that hold thread pools (by path). Throws Failure.
Ref process_state();

}  // namespace dlbench::worker

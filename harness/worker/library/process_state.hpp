#pragma once

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// State that all libraries of this process share and that Python modules do not show, as a dict of
/// dicts of comparable texts: the handler of each signal, the environment variables of the C
/// library (a digest of each), Python's allocators, the floating-point environment, and the shared
/// objects with thread pools (by path). Throws Failure.
Ref process_state();

}  // namespace dlbench::worker

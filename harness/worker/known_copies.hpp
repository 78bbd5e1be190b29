#pragma once

#include <string>

#include "trace/cupti.hpp"

namespace dlbench::worker {

/// Copies a few bytes on CUDA's first device, once through the driver and once through each CUDA
/// runtime library that is loaded, and looks whether `trace` counts each copy. Returns why its
/// counts mean nothing here, or nothing. A runtime that is linked into a library cannot be tried.
std::string find_unseen_copy(trace::ApiTrace& trace);

}  // namespace dlbench::worker

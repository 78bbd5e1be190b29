#pragma once

#include <string>

#include "model/entry.hpp"
#include "trace/cupti.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// Copies a few bytes on the exchange's CUDA device, once through the driver and once through each
/// loaded CUDA runtime library, and checks that `trace` counts each copy. Returns why the counts
/// cannot be used, or an empty text. A runtime that is linked into a library cannot be checked.
std::string find_unobserved_copy(trace::ApiTrace& trace, const Exchange& exchange);

/// Makes the exchange's array on a CUDA device and checks that `trace` counts a call, because every
/// runtime needs a copy, a fill, an allocation or a kernel for device memory. Returns why the
/// counts cannot be used, or an empty text; also empty for an array without elements and for memory
/// that the host can write.
std::string find_unobserved_calls(trace::ApiTrace& trace, const Exchange& exchange,
                                  const Library& library, const Ref& make_case);

}  // namespace dlbench::worker

#pragma once

#include <string>

#include "model/entry.hpp"
#include "trace/cupti.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// Copies a few bytes on CUDA's first device, once through the driver and once through each CUDA
/// runtime library that is loaded, and checks that `trace` counts each copy. Returns the reason why
/// its counts cannot be used, or an empty text. A runtime that is linked into a library cannot be
/// called, so it is not checked.
std::string find_unseen_copy(trace::ApiTrace& trace);

/// Makes the exchange's array on a CUDA device and checks that `trace` counts a call. An array in
/// the device's memory needs a copy, a fill, an allocation or a kernel, whatever runtime the
/// library uses. Returns the reason why the counts cannot be used, or an empty text; the text is
/// also empty for an array without elements and for one in memory that the host can write.
std::string find_unseen_calls(trace::ApiTrace& trace, const Exchange& exchange,
                              const Library& library, const Ref& make_case);

}  // namespace dlbench::worker

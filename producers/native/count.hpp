#pragma once

// For Py_GIL_DISABLED. C++ tests without Python do not have the header.
#if __has_include(<pyconfig.h>)
#include <pyconfig.h>
#endif

#include <atomic>
#include <cstdint>

namespace dlbench::native {

/// A counter that is atomic if threads run without a GIL.
#ifdef Py_GIL_DISABLED
using Count = std::atomic<std::uint64_t>;
#else
using Count = std::uint64_t;
#endif

}  // namespace dlbench::native

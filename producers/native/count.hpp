#pragma once

// Py_GIL_DISABLED; the C++ tests of what needs no Python have no such header.
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

#pragma once

#include <functional>
#include <string>

#include "exchange/verdict.hpp"
#include "worker/arrays/arrays.hpp"

namespace dlbench::worker {

/// Larger arrays are not tested, because overwriting memory costs a page fault every 4 KiB.
inline constexpr std::uint64_t kMostBytesToOutlive = 64 << 10;

/// Throws Failure `wrong` unless the consumer's result keeps its memory alive.
///
/// `array` must have no other owner. It is dropped as soon as `import` returns, before `wait`, as
/// in `y = consumer(make())`. Then memory of the size of the array and of `room` bytes is allocated
/// and overwritten, and the values are compared, except `missing` elements. On a device
/// `make_spoiled` makes and overwrites arrays of the library, because only the library can reuse
/// its own pool.
///
/// Returns why the device's freed memory could not be overwritten; empty if it was.
std::string require_outliving(Ref array, const std::function<Ref(const Ref&)>& import,
                              const std::function<void(PyObject*)>& wait,
                              const std::function<Ref()>& make_spoiled, const Library& consumer,
                              const exchange::View& expected, exchange::Missing missing,
                              std::uint64_t room);

}  // namespace dlbench::worker

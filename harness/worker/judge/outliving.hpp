#pragma once

#include <functional>
#include <string>

#include "exchange/verdict.hpp"
#include "worker/library/arrays.hpp"

namespace dlbench::worker {

/// Larger arrays are not tested: overwriting memory costs a page fault every 4 KiB.
inline constexpr std::uint64_t kMostBytesToOutlive = 64 << 10;

/// Does the consumer's result keep its memory alive? `array` must have no other owner. It is
/// dropped as soon as `cross` returns, before `wait`, as after `y = consumer(make())`. Memory of
/// `bytes` and of `room` bytes is then allocated and overwritten, and the consumer's values are
/// read. On a device `make_spoiled` makes more of it: only the library itself gets memory again
/// from its own pool. Throws Failure `wrong` where the values changed; `missing` elements have
/// none. Returns why the device's freed memory could not be overwritten; empty where it was.
std::string require_outliving(Ref array, const std::function<Ref(const Ref&)>& cross,
                              const std::function<void(PyObject*)>& wait,
                              const std::function<Ref()>& make_spoiled, const Library& consumer,
                              const exchange::View& expected, exchange::Missing missing,
                              std::uint64_t room);

}  // namespace dlbench::worker

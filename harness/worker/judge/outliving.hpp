#pragma once

#include <functional>
#include <string>

#include "exchange/verdict.hpp"
#include "worker/library/arrays.hpp"

namespace dlbench::worker {

/// Larger arrays are not looked at: writing over memory costs a page fault every 4 KiB.
inline constexpr std::uint64_t kMostBytesToOutlive = 64 << 10;

/// Does what the consumer returned keep its memory alive? `array` must be nobody else's; it is
/// dropped as soon as `cross` returned, before `wait`, as after `y = consumer(make())`. Memory of
/// `bytes` and of `room` bytes is then taken and written over, and the consumer's values are read.
/// On a device `make_spoiled` makes more of it: memory that went back to a library's own pool comes
/// again from that alone. Throws Failure `wrong` where they are no longer the expected ones;
/// `missing` has none. Returns why the device's freed memory could not be written over; empty where
/// it was.
std::string require_outliving(Ref array, const std::function<Ref(const Ref&)>& cross,
                              const std::function<void(PyObject*)>& wait,
                              const std::function<Ref()>& make_spoiled, const Library& consumer,
                              const exchange::View& expected, exchange::Missing missing,
                              std::uint64_t room);

}  // namespace dlbench::worker

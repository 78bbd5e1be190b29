#pragma once

#include <memory>
#include <vector>

#include "exchange/verdict.hpp"
#include "worker/arrays/described.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// Returns a view that the host can read: the same view, or a copy of its memory made after all
/// work on its device. A view on a device without a table is returned unchanged. Throws Failure.
Held on_host_memory(Held held);

/// exchange::write_through() for memory anywhere: device memory is accessed through functions of
/// the device. Throws Failure.
Proof write_through_anywhere(const exchange::View& source, const exchange::View& found);

/// Allocates, overwrites and frees memory of that size on a device, so that recently freed memory
/// most likely holds other values. Does nothing without a table.
void spoil_freed_memory(const exchange::Device& where, std::uint64_t bytes);

/// Overwrites the memory of a view. Does nothing for host memory and without a table. Throws
/// Failure on a device error.
void spoil(const exchange::View& view);

}  // namespace dlbench::worker

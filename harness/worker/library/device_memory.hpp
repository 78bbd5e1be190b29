#pragma once

#include <memory>
#include <vector>

#include "exchange/verdict.hpp"
#include "worker/library/described.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// A view that the host can read by its addresses: the given one, or a copy of its memory after all
/// work on its device. Memory on a device without a table is returned as it is. Throws Failure.
Held on_host_memory(Held held);

/// Does what exchange::write_through does, for memory anywhere: bytes move through the device's own
/// functions, never through an address of its memory. Throws Failure.
Proof write_through_anywhere(const exchange::View& source, const exchange::View& found);

/// Memory of that size on the same device as a view, overwritten and released again: memory that
/// was freed there a moment ago then most likely holds other values. Nothing without a table.
void spoil_freed_memory(const exchange::Device& where, std::uint64_t bytes);

/// Overwrites the memory of a view. Does nothing for host memory, or without a table. Throws
/// Failure on an error of the device.
void spoil(const exchange::View& view);

}  // namespace dlbench::worker

#pragma once

#include <memory>
#include <vector>

#include "exchange/verdict.hpp"
#include "worker/library/described.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// A view that the host can read by its addresses: the one given, or a copy of the memory that it
/// describes, after all work on its device. What lies on a device of a kind without a table stays
/// as it is. Throws Failure.
Held on_host_memory(Held held);

/// As exchange::write_through, wherever the two lie: bytes are moved through the device's own
/// functions, never by an address of its memory. Throws Failure.
Proof write_through_anywhere(const exchange::View& source, const exchange::View& found);

/// Memory of that size on the same device as a view, written over and let go again: what was freed
/// there a moment ago most likely holds something else now. Nothing where there is no table.
void spoil_freed_memory(const exchange::Device& where, std::uint64_t bytes);

/// Writes over what a view describes. Nothing where it lies on the host, or where there is no
/// table. Throws Failure where the device refuses it.
void spoil(const exchange::View& view);

}  // namespace dlbench::worker

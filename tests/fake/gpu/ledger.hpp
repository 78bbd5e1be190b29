#pragma once

#include <cstddef>

#include "calls.hpp"

/// Which process has what of each device: in the file that DLBENCH_FAKE_MEMORY_FILE names, so that
/// all processes with that name share the devices; else each process has the devices for itself.
/// What a process had is free again when it has ended, however it did.
namespace dlbench::fake {

/// Takes memory of a device; out of memory where it does not have that much.
Code allocate_memory(int device, std::size_t bytes);
void release_memory(int device, std::size_t bytes);

/// Takes the memory of a context, where the device's compute mode allows this process one.
Code open_context(int device);
void close_context(int device);

std::size_t total_memory();
std::size_t free_memory_of(int device);

}  // namespace dlbench::fake

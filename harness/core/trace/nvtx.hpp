#pragma once

#include <cstdint>
#include <string_view>

#include "trace/range.hpp"

/// Ranges for NVIDIA's tools, such as Nsight Systems, through NVTX. It is header-only, so nothing
/// is linked, and without a tool it has no cost.
namespace dlbench::trace::nvtx {

/// "3" if dlbench was built with NVTX, otherwise empty.
std::string_view version() noexcept;

/// Creates the domain `dlbench` and names its categories. Returns true if a tool is attached. Later
/// calls return the same value.
bool attach();

/// The tool's handle for a text; null without a tool.
void* registered(const char* text);

void push(const Name& name, std::uint64_t bytes);
void pop();

}  // namespace dlbench::trace::nvtx

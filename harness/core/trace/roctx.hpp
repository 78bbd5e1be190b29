#pragma once

#include <cstdint>
#include <string>

#include "trace/range.hpp"

/// Ranges for AMD's tools, such as rocprofv3, through ROCTX. ROCTX has no domains and no payloads,
/// so the message contains both: "dlbench:export bytes=4096".
namespace dlbench::trace::roctx {

/// Loads ROCTX and activates it as a sink. Returns the library's file, or empty if ROCTX is not
/// installed. Later calls return the same value.
const std::string& open();

/// The message of a range.
std::string message(const Name& name, std::uint64_t bytes);

void push(const Name& name, std::uint64_t bytes);
void pop();

}  // namespace dlbench::trace::roctx

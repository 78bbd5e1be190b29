#pragma once

#include <cstdint>
#include <string>

#include "trace/range.hpp"

/// Ranges for AMD's tools (rocprofv3) through ROCTX. It has neither domains nor payloads: the
/// message contains both, as "dlbench:export bytes=4096".
namespace dlbench::trace::roctx {

/// Loads ROCTX and sends it ranges from now on. Returns the library's file, or empty where ROCTX is
/// not installed. Once a process.
const std::string& open();

/// The text of a range in ROCTX.
std::string message(const Name& name, std::uint64_t bytes);

void push(const Name& name, std::uint64_t bytes);
void pop();

}  // namespace dlbench::trace::roctx

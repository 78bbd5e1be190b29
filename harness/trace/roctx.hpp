#pragma once

#include <cstdint>
#include <string>

#include "trace/range.hpp"

/// AMD's tools (rocprofv3), through ROCTX. It knows neither domains nor payloads: both stand in the
/// message, as "dlbench:export bytes=4096".
namespace dlbench::trace::roctx {

/// Loads ROCTX and gives it ranges from now on; the name of the library, or empty where there is
/// none here. Once a process.
const std::string& open();

/// What a range is called there.
std::string message(const Name& name, std::uint64_t bytes);

void push(const Name& name, std::uint64_t bytes);
void pop();

}  // namespace dlbench::trace::roctx

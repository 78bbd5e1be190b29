#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "trace/recorder.hpp"

namespace dlbench::trace {

/// The process of the ranges.
struct Process {
  std::int64_t id = 0;
  std::string name;
};

/// The trace as JSON in Chrome's trace event format, which Perfetto opens: complete events ("X")
/// with `ts` and `dur` in microseconds, `args` with the bytes and the enclosing cell, and the names
/// of process and threads.
nlohmann::ordered_json chrome_trace(const Recording& recording, const Process& process);

}  // namespace dlbench::trace

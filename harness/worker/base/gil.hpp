#pragma once

namespace dlbench::worker {

/// Whether the interpreter runs with the GIL now. In a free-threaded Python the import of a library
/// that does not support this enables it for the rest of the process.
bool has_gil();

/// The same at the first call, which the worker makes before it imports any library.
bool had_gil_at_start();

}  // namespace dlbench::worker

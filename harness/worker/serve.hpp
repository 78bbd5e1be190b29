#pragma once

namespace dlbench::worker {

/// Handles requests, one JSON object a line, until the input ends or `end` is requested. Python
/// exceptions become `error` replies; only a broken pipe is thrown.
void serve(int in, int out);

}  // namespace dlbench::worker

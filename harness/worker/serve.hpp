#pragma once

namespace dlbench::worker {

/// Answers the fleet's requests, one JSON object a line, until the input ends or `end` comes.
/// Python exceptions become `error` answers; only a broken pipe is thrown.
void serve(int in, int out);

}  // namespace dlbench::worker

#pragma once

#include "device/table.hpp"
#include "model/capture.hpp"
#include "sync/queue.hpp"
#include "sync/streams.hpp"

namespace dlbench::worker {

/// Makes the exchange of a queue while the consumer's stream captures in the mode `global`, which
/// torch.cuda.graph() uses by default. `found`: which exchange it is. Fills in the rest.
void try_capture(const sync::Queue& queue, sync::Streams& streams, Capture& found);

/// Is the consumer's stream usable after the trial? Otherwise later trials in this process fail.
bool is_usable(sync::Streams& streams);

}  // namespace dlbench::worker

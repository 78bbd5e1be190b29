#pragma once

#include <string>
#include <vector>

#include "worker/judge/guarded.hpp"
#include "worker/proxy/recorder.hpp"

namespace dlbench::worker {

/// The library that copied in an exchange, with warnings about IS_COPIED.
struct Copier {
  std::string library;  ///< "producer", "consumer" or empty
  Warnings warnings;
};

/// Makes one more exchange through the proxy of `recorder`. The producer copied if the addresses of
/// its export and its array differ, or if its code read the pages. The consumer copied if the
/// addresses of the result and the export differ. `guarded`: the source's pages can be protected.
/// Throws Failure if the consumer rejects the proxy.
Copier copier_of(const Steps& steps, const Recorder& recorder, const exchange::View& source,
                 bool guarded);

/// Warns if a producer sets IS_COPIED but shares its memory.
void warn_of_false_flag(const Observation& observed, Outcome outcome, Warnings& warnings);

}  // namespace dlbench::worker

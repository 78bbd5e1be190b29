#pragma once

#include <string>
#include <vector>

#include "worker/judge/guarded.hpp"
#include "worker/proxy/recorder.hpp"

namespace dlbench::worker {

/// The library that copied in an exchange, and whether IS_COPIED agrees.
struct Copier {
  std::string library;  ///< "producer", "consumer" or empty
  Warnings warnings;
};

/// Exchanges once more, through the proxy behind `recorder`. The producer copied where its export
/// lies elsewhere than its array, or where its code read the pages. The consumer copied where the
/// result lies elsewhere than the export. `guarded`: whether the source's pages can be protected.
/// Throws Failure where the consumer rejects the proxy.
Copier copier_of(const Steps& steps, const Recorder& recorder, const exchange::View& source,
                 bool guarded);

/// Warns where a producer sets IS_COPIED but shares its memory.
void warn_of_false_flag(const Seen& seen, Outcome outcome, Warnings& warnings);

}  // namespace dlbench::worker

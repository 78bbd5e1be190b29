#pragma once

#include <string>
#include <vector>

#include "worker/judge/guarded.hpp"
#include "worker/proxy/recorder.hpp"

namespace dlbench::worker {

/// Which half of an exchange copied, and whether IS_COPIED says the same.
struct Copier {
  std::string who;  ///< "producer", "consumer" or empty
  Warnings warnings;
};

/// Crosses once more, through the proxy behind `recorder`: what the producer handed over lies
/// elsewhere than its array, or its code read the pages: the producer. The result lies elsewhere
/// than what was handed over: the consumer. `guarded` says whether the source's pages can be taken
/// away. Throws Failure where the consumer does not take the proxy.
Copier copier_of(const Steps& steps, const Recorder& recorder, const exchange::View& source,
                 bool guarded);

/// Warns where a producer that shared its memory said that it copied.
void warn_of_false_flag(const Seen& seen, Outcome outcome, Warnings& warnings);

}  // namespace dlbench::worker

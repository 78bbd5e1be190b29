#pragma once

#include "model/entry.hpp"

namespace dlbench {

struct Verdict {
  Outcome outcome = Outcome::unproven;
  Warnings warnings;  ///< one for each disagreement between instruments
};

/// Combines the evidence into an outcome. `guard` decides whether bytes were copied. `write`
/// decides whether source and result share memory; without it `address` decides, which is weaker
/// because two mappings of the same memory have different addresses. `slope` decides only if the
/// other three have no result. Each disagreement becomes a warning.
///
/// The outcome is `unproven` if the evidence is contradictory:
/// - the addresses are equal, but memory is not shared
/// - all pages were read, but memory is shared: the data was only read, or the copy was discarded
/// - no page was read, but memory is not shared: the copy was not observed
///
/// `crossed_device` turns a copy into a device-copy. `same_bytes` is false if the dtypes differ;
/// the outcome is then never zero-copy.
Verdict judge(const Evidence& evidence, bool crossed_device, bool same_bytes = true);

}  // namespace dlbench

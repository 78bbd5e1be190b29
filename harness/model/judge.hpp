#pragma once

#include "model/entry.hpp"

namespace dlbench {

struct Verdict {
  Outcome outcome = Outcome::unproven;
  Warnings warnings;  ///< one for each disagreement between instruments
};

/// Combines the evidence into an outcome. `write` decides whether source and result share memory;
/// without it, `address` does, which is weaker because two mappings of the same memory have
/// different addresses. `guard` decides whether bytes were copied. `slope` decides only where the
/// other three have no result. Each disagreement becomes a warning. The outcome is `unproven` where
/// the evidence is contradictory: equal addresses without shared memory; all pages read although
/// memory is shared (the data was read, or copied and the copy discarded); no page read although
/// memory is not shared (the copy was not observed). `crossed_device` turns a copy into a
/// device-copy. Shared memory has the same bytes on both sides, so the outcome is never zero-copy
/// where `same_bytes` is false.
Verdict judge(const Evidence& evidence, bool crossed_device, bool same_bytes = true);

}  // namespace dlbench

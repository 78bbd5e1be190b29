#pragma once

#include "model/entry.hpp"

namespace dlbench {

struct Verdict {
  Outcome outcome = Outcome::unproven;
  Warnings warnings;  ///< one line for each disagreement between instruments
};

/// Combines the instruments into an outcome. Whether source and result are one memory: `write`
/// (after ready) decides, else `address`, since two mappings of one memory differ in address.
/// Whether bytes were copied meanwhile: `guard` decides. `slope` decides only where none of them
/// has a result. Each disagreement becomes a warning. The outcome is `unproven` where no reading
/// fits: one address that is not shared; every page read, yet one memory (read through, or copied
/// and discarded); no page read, yet two memories (copied unseen). `crossed_device` turns a copy
/// into a device-copy. One memory has the same bytes on both sides: where `same_bytes` is false,
/// the outcome is never zero-copy.
Verdict judge(const Evidence& evidence, bool crossed_device, bool same_bytes = true);

}  // namespace dlbench

#pragma once

#include "model/entry.hpp"

namespace dlbench {

struct Verdict {
  Outcome outcome = Outcome::unproven;
  Warnings warnings;  ///< one line for each disagreement between instruments
};

/// Whether both ends are one memory, `write` (after ready) says best, then `address`: two mappings
/// of one memory differ in address. Whether bytes were copied meanwhile, `guard` says. `slope`
/// decides only where none of them looked. All that disagree are warned of, and it is `unproven`
/// where no reading fits: one address that does not share; all of it read, yet it is one memory
/// (looked through, or copied and thrown away); nothing read, yet it is not (copied unseen).
/// `crossed_device` makes a copy a device-copy. One memory has the same bytes at both ends: where
/// `same_bytes` is false, it is not zero-copy, whatever the instruments say.
Verdict judge(const Evidence& evidence, bool crossed_device, bool same_bytes = true);

}  // namespace dlbench

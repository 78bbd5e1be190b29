#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace dlbench {

/// The outcome of a cell. The first four have a time; all others have a reason instead.
enum class Outcome {
  zero_copy,
  copy,
  device_copy,
  unproven,
  refused,
  unsupported,
  wrong,
  race,
  crashed,
  timed_out,
  out_of_memory,
  no_protocol,
  not_installed,
  import_failed,
  no_device,
  not_run,
};

inline constexpr std::array<std::string_view, 16> kOutcomes{
    "zero-copy",     "copy",          "device-copy", "unproven",  "refused",       "unsupported",
    "wrong",         "race",          "crashed",     "timed-out", "out-of-memory", "no-protocol",
    "not-installed", "import-failed", "no-device",   "not-run"};

std::string_view to_string(Outcome outcome);

/// Throws UsageError for an unknown outcome.
Outcome outcome_from(std::string_view word);

constexpr bool is_measured(Outcome outcome) {
  return outcome <= Outcome::unproven;
}

/// The outcome of a cell if two workers found different outcomes: the weaker claim, because an
/// exchange that copied once may copy again.
constexpr Outcome weaker_claim(Outcome first, Outcome second) {
  constexpr std::array<int, 4> kClaims{0, 3, 2, 1};  // zero-copy, then unproven, then copies
  return kClaims.at(static_cast<std::size_t>(first)) > kClaims.at(static_cast<std::size_t>(second))
             ? first
             : second;
}

/// The result of one instrument for the claim "no bytes were copied": yes (shared), no (copied), or
/// not tested.
enum class Proof { yes, no, skipped };

std::string_view to_string(Proof proof);
Proof proof_from(std::string_view word);

}  // namespace dlbench

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace dlbench {

/// A step of an exchange. A worker announces it before it begins, so that the step in which a
/// worker ends is known.
enum class Step {
  make,       ///< the producer makes the arrays
  call,       ///< the consumer's call
  ready,      ///< waiting for the consumer's data
  outlive,    ///< reading the result after the array was dropped
  values,     ///< comparing the values
  recorder,   ///< recording the requests of the consumer
  lifetime,   ///< counting the deleters that were called
  calibrate,  ///< finding the number of calls in a round
  growth,     ///< measuring the memory that exchanges leak
  guard,      ///< one exchange under the page guard
  judged,     ///< all outcomes of the exchange are known
  phases,     ///< timing the phases
  sync,       ///< classifying the synchronization
  late_free,  ///< reading memory that the producer frees early
  capture,    ///< the exchange during a graph capture
};

inline constexpr std::array<std::string_view, 15> kSteps{
    "make",   "call",  "ready",  "outlive", "values", "recorder",  "lifetime", "calibrate",
    "growth", "guard", "judged", "phases",  "sync",   "late free", "capture"};

constexpr std::string_view to_string(Step step) {
  return kSteps[static_cast<std::size_t>(step)];
}

/// None for a word that is no step: a worker's line is foreign data.
constexpr std::optional<Step> step_from(std::string_view word) {
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    if (kSteps[i] == word) return static_cast<Step>(i);
  }
  return std::nullopt;
}

}  // namespace dlbench

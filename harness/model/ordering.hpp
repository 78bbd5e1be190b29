#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/warning.hpp"

namespace dlbench {

/// What waits for the producer's work when its queue is still busy.
enum class Waits {
  host,          ///< the calling thread, in export or import
  stream,        ///< the consumer's own order: its queue waits, the host does not
  none,          ///< the consumer read the old content
  wrong_stream,  ///< a queue waited, but for another queue than the producer's
  host_wrong,    ///< the host waited, and the consumer still read the old content
  no_delay,      ///< the producer was never busy during a trial
  inconclusive,  ///< tested, but no result repeated often enough
};

inline constexpr std::array<std::string_view, 7> kWaits{
    "host", "stream", "none", "wrong-stream", "host-wrong", "no-delay", "inconclusive"};

std::string_view to_string(Waits waits);

/// Throws UsageError for an unknown word.
Waits waits_from(std::string_view word);

/// Did the consumer read before the producer's work was done?
constexpr bool is_unordered(Waits waits) {
  return waits == Waits::none || waits == Waits::wrong_stream || waits == Waits::host_wrong;
}

/// What was observed for one stream argument of one exchange. Times in ns.
struct Ordering {
  /// The argument `stream`: "-1", "1", "own", "foreign", "other"; empty: omitted, or None.
  std::string stream;
  bool is_own_call = false;           ///< the consumer's own call; else dlbench set the argument
  bool required = false;              ///< the consumer's read had to come after the producer's work
  std::optional<Waits> waits;         ///< none where the call was refused
  std::string saw;                    ///< "old", "new", or empty where nothing was pending
  std::optional<double> transfer_ns;  ///< export and import, the producer idle
  std::optional<double> export_blocked;  ///< share of a known delay for which the host was held
  std::optional<double> import_blocked;
  std::optional<double> gap_ns;  ///< from the producer's end to the consumer's start, on the
                                 ///< device's clock; negative: it did not wait
  Warning reason;                ///< why `waits` is empty or what limits it; without a code: none
};

}  // namespace dlbench

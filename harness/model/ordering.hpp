#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace dlbench {

/// What waits until the producer's work is done, where its queue is still busy.
enum class Waits {
  host,          ///< the calling thread, in export or import
  stream,        ///< the consumer's own order: its queue waits, the host does not
  none,          ///< the consumer read what was there before
  wrong_stream,  ///< some queue or the other waited, for another one than the producer's
  host_wrong,    ///< the host was held, and the consumer still read what was there before
  no_delay,      ///< the producer was never busy while one looked
  inconclusive,  ///< looked at, and nothing repeated often enough
};

inline constexpr std::array<std::string_view, 7> kWaits{
    "host", "stream", "none", "wrong-stream", "host-wrong", "no-delay", "inconclusive"};

/// Whether a view that is dropped while the consumer's queue still reads is safe from its memory
/// being used again.
inline constexpr std::array<std::string_view, 3> kLateFree{"safe", "late", "inconclusive"};

std::string_view to_string(Waits waits);

/// Throws UsageError for another word.
Waits waits_from(std::string_view word);

/// Did the consumer read before the producer's work was done?
constexpr bool is_unordered(Waits waits) {
  return waits == Waits::none || waits == Waits::wrong_stream || waits == Waits::host_wrong;
}

/// What one stream argument led to, in one exchange. Times in ns.
struct Ordering {
  /// What stood for `stream`: "-1", "1", "own", "foreign", "other"; empty: nothing, or None.
  std::string stream;
  bool asked = false;          ///< as the consumer itself calls; else dlbench set the argument
  bool required = false;       ///< the consumer's read had to come after the producer's work
  std::optional<Waits> waits;  ///< none where the call was refused
  std::string saw;             ///< "old", "new", or empty where nothing was pending
  std::optional<double> transfer_ns;     ///< export and import, the producer idle
  std::optional<double> export_blocked;  ///< share of a known delay for which the host was held
  std::optional<double> import_blocked;
  std::optional<double> gap_ns;  ///< from the producer's end to the consumer's start, on the
                                 ///< device's clock; below 0: it did not wait
  std::string reason;            ///< why there is no word, or an inconclusive one
};

}  // namespace dlbench

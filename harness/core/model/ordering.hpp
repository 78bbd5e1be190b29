#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/warning.hpp"

namespace dlbench {

/// What waits for the producer's work if it is pending when the exchange begins.
enum class Waits {
  host,          ///< the calling thread, in export or import
  stream,        ///< the consumer's queue waits, the host does not
  none,          ///< the consumer read the old content
  wrong_stream,  ///< the consumer's queue waited for a queue other than the producer's
  host_wrong,    ///< the host waited, and the consumer still read the old content
  no_delay,      ///< the producer was never busy in a trial
  inconclusive,  ///< the trials agreed too rarely
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

/// What the text of the protocol demands of an exchange with one stream argument.
inline constexpr std::string_view kOrder = "order";      ///< the read comes after the work
inline constexpr std::string_view kNoWait = "no-wait";   ///< the producer does not synchronize
inline constexpr std::string_view kRefusal = "refusal";  ///< the argument is refused

/// The synchronization observed for one stream argument of one exchange. Times are in ns.
struct Ordering {
  /// The argument `stream`: "-1", "1", "own", "foreign", "other"; "omitted", also in protocols
  /// without one; empty: None.
  std::string stream;
  bool is_own_call = false;  ///< the consumer's own argument; otherwise dlbench set it
  /// Where the result is read: on the consumer's `own` stream, the `legacy` or the `per-thread`
  /// default stream, the `work` stream that the producer's exchange API names, or the `host`.
  std::string reads_on = "own";
  std::string expected;        ///< kOrder, kNoWait, kRefusal; empty: the text demands nothing
  std::optional<Waits> waits;  ///< none where the call raised
  std::string content;         ///< "old", "new", or empty where nothing was pending
  std::optional<double> transfer_ns;  ///< time of export and import while the producer is idle
  /// Share of the planted delay for which the host was blocked.
  std::optional<double> export_blocked;
  std::optional<double> import_blocked;
  std::optional<double> gap_ns;  ///< from the end of the producer's work to the start of the
                                 ///< consumer's read, on the device's clock; negative: no wait
  Warning reason;                ///< why `waits` is empty or limited; without a code: no reason
};

}  // namespace dlbench

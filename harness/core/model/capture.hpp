#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dlbench {

/// What an exchange does while the consumer's stream captures a graph.
enum class Captured {
  captured,     ///< it returns, and the capture ends with a graph
  host_wait,    ///< the same, but the host waited for the producer's work, which no replay repeats
  refused,      ///< it raises, and the capture goes on
  invalidated,  ///< the capture is broken
  failed,       ///< unknown: the device refused a call of the trial, or the worker ended
};

inline constexpr std::array<std::string_view, 5> kCaptured{"captured", "host-wait", "refused",
                                                           "invalidated", "failed"};

std::string_view to_string(Captured result);

/// Throws UsageError for an unknown word.
Captured captured_from(std::string_view word);

/// One exchange during a capture, with one stream argument.
struct Capture {
  /// The argument `stream`: "-1", "1", "own", "other", "omitted"; empty: None.
  std::string stream;
  bool is_own_call = false;  ///< the consumer's own argument; otherwise dlbench set it
  /// The producer works on the capturing stream; otherwise its work is pending on another one.
  bool is_one_stream = false;
  Captured result = Captured::failed;
  std::optional<std::size_t> nodes;  ///< that the exchange adds to the graph
  std::string at;                    ///< "export", "import" or "end": what raised or broke it
  std::optional<int> error;          ///< the vendor's code at the end of the capture
  std::string reason;                ///< why it is refused, invalidated or failed
};

}  // namespace dlbench

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/planted.hpp"

namespace dlbench::sync {

/// One planted exchange, and what was found.
struct Situation {
  Kind kind = Kind::Nothing;
  int neighbours = 1;             ///< threads beside it that spin
  Ns delay = 0;                   ///< the shorter of the two
  std::string found;              ///< of kWaits or kLateFree
  std::optional<double> blocked;  ///< share for which export and import held the host

  bool is_right() const { return found == truth(kind); }
  /// By how much that share is off; none where it says nothing: 1 for a wait of the host, 0 for
  /// one of the queue or none.
  std::optional<double> share_error() const;
};

/// The eight kinds interleaved, beside one busy neighbour, then beside two; delays from 5 to 20 ms,
/// drawn evenly by their logarithm. Delays sleep, so `jobs` are tried at a time.
std::vector<Situation> try_planted(std::size_t count, std::uint64_t seed, int jobs);

/// What handing over costs on the simulated device, in ns, medians: an event recorded and waited
/// for by its table, and the same as a planted exchange, through a `Queue`.
struct OrderingCost {
  double bare_ns = 0, exchange_ns = 0;
};
OrderingCost ordering_cost(int times);

}  // namespace dlbench::sync

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/planted.hpp"

namespace dlbench::sync {

/// A planted exchange and its classification.
struct Situation {
  Kind kind = Kind::Nothing;
  int neighbors = 1;              ///< number of busy threads at the same time
  Ns delay = 0;                   ///< the shorter of the two delays
  std::string found;              ///< word of kWaits or LateFree::word
  std::optional<double> blocked;  ///< share of the delay for which export and import held the host

  bool is_right() const { return found == truth(kind); }
  /// The error of `blocked`, which should be 1 for a host wait and 0 for a stream wait or none;
  /// none if it is unknown.
  std::optional<double> share_error() const;
};

/// Classifies the eight kinds, interleaved, with one busy thread, then with two. Delays are 5 to 20
/// ms, uniform in their logarithm. Delays sleep, so `jobs` exchanges run concurrently.
std::vector<Situation> try_planted(std::size_t count, std::uint64_t seed, int jobs);

}  // namespace dlbench::sync

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/planted.hpp"

namespace dlbench::sync {

/// One planted exchange and its classification.
struct Situation {
  Kind kind = Kind::Nothing;
  int neighbors = 1;              ///< spinning threads that run at the same time
  Ns delay = 0;                   ///< the shorter of the two delays
  std::string found;              ///< of kWaits, or LateFree::word
  std::optional<double> blocked;  ///< share for which export and import held the host

  bool is_right() const { return found == truth(kind); }
  /// The error of that share, for 1 (a host wait) or 0 (a stream wait or none); none where it is
  /// unknown.
  std::optional<double> share_error() const;
};

/// Classifies the eight kinds, interleaved, with one busy neighbor, then with two. Delays of 5 to
/// 20 ms, evenly distributed by their logarithm. Delays sleep, so `jobs` exchanges run at a time.
std::vector<Situation> try_planted(std::size_t count, std::uint64_t seed, int jobs);

}  // namespace dlbench::sync

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/entry.hpp"

namespace dlbench::supervisor {

/// `via` of the phases of a call.
inline constexpr std::string_view kViaBody = "body";

/// One round of the phases of an exchange. Times are in ns for one exchange.
struct PhaseTime {
  double exchange_ns = 0;
  std::vector<double> calls_ns;  ///< as PhaseRounds::calls
  double import_ns = 0;
  double release_ns = 0;
  double unexplained_ns = 0;
  double canary_ns = 0;
  bool slow = false;  ///< measured on a slow core, and not again
};

/// The phases of one exchange in one worker.
struct PhaseRounds {
  struct Wanted {
    std::string phase;
    std::size_t cell = 0;  ///< index into Plan::cells
    bool recorded = false;
  };
  std::vector<Wanted> cells;
  bool prepared = false;
  std::uint64_t iterations = 0;
  std::string via;
  /// The consumer's requests to the producer; `ns` is not used.
  std::vector<Breakdown::Part> calls;
  Warnings warnings;
  std::vector<PhaseTime> rounds;
  double spent_ns = 0;

  bool is_over() const;
  bool is_enough() const;
  /// Half the interval of the unexplained time divided by the exchange's time; infinite without an
  /// interval.
  double relative_half_width() const;
};

/// The time of a phase in each round. Empty if the exchange has no such phase.
std::vector<double> samples_of(const PhaseRounds& rounds, const std::string& phase);

/// The canary's time in each round.
std::vector<double> canaries_of(const PhaseRounds& rounds);

/// Medians over the rounds of all workers; needs at least one worker.
Breakdown breakdown_of(std::span<const PhaseRounds* const> workers);

/// Warnings about a breakdown: that the phases do not add up, and possible causes.
Warnings doubts(const Breakdown& breakdown, std::span<const PhaseRounds* const> workers);

}  // namespace dlbench::supervisor

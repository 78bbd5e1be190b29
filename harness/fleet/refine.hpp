#pragma once

#include <span>
#include <vector>

#include "fleet/pair.hpp"

namespace dlbench::fleet {

/// More rounds, in random order over pairs and cells, for the cells whose interval is wider than
/// Options::precision; at most 24 rounds a cell, and 0.15 s of rounds where no budget is set. With
/// one, the worse half of them in each pass, for at most `seconds`. Pairs that are not alive are
/// passed over.
void refine(std::span<PairRun* const> pairs, Context& context, double seconds);

/// The cells of a pair that are to be refined, with how far they are from being good enough.
struct Wish {
  PairRun* pair = nullptr;
  Pick pick;
  double width = 0;        ///< half the interval over the median
  std::size_t rounds = 0;  ///< to be had in one pass
};
std::vector<Wish> wishes(PairRun& pair, const Options& options);

}  // namespace dlbench::fleet

#include "supervisor/plan/shard.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "supervisor/plan/fingerprint.hpp"

namespace dlbench::plan {
namespace {

// Measured in runs of each library alone and in runs of shards, with three processes for each cell.
// Whole milliseconds, so that every machine computes the same shards.
constexpr std::uint64_t kStartMs = 1000;
constexpr std::uint64_t kCellMs = 40;
constexpr std::uint64_t kBytesPerMs = 1 << 17;  ///< of a cell's array, over all its rounds
constexpr std::uint64_t kImportMs = 300;        ///< of a library that is not in kSlowImports
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> kSlowImports{{
    {"jax", 1500},
    {"paddle", 5700},
    {"pyarrow", 800},
    {"tensorflow", 11000},
    {"torch", 2800},
    {"tvm_ffi", 1700},  // imports torch: half of its time, because a shard often has both
    {"warp", 800},
}};

std::uint64_t import_ms(std::string_view library) {
  for (const auto& [name, ms] : kSlowImports) {
    if (name == library) return ms;
  }
  return kImportMs;
}

using Libraries = std::set<std::pair<std::string, std::string>>;  ///< {environment, library}

/// Pairs that stay in one shard, with their cost.
struct Unit {
  std::vector<std::size_t> pairs;
  std::uint64_t cells_ms = 0;
  Libraries libraries;
};

struct Part {
  std::vector<std::size_t> pairs;
  std::uint64_t ms = kStartMs;
  Libraries libraries;

  std::uint64_t with(const Unit& unit) const {
    std::uint64_t sum = ms + unit.cells_ms;
    for (const auto& library : unit.libraries) {
      if (!libraries.contains(library)) sum += import_ms(library.second);
    }
    return sum;
  }

  void add(const Unit& unit) {
    ms = with(unit);
    pairs.insert(pairs.end(), unit.pairs.begin(), unit.pairs.end());
    libraries.insert(unit.libraries.begin(), unit.libraries.end());
  }
};

std::uint64_t cells_ms(const Plan& plan, const Pair& pair) {
  std::uint64_t ms = 0;
  for (const std::size_t cell : pair.cells) {
    ms += kCellMs + plan.cells[cell].exchange.bytes / kBytesPerMs;
  }
  return ms;
}

void add_pair(const Plan& plan, std::size_t index, Unit& unit) {
  const Pair& pair = plan.pairs[index];
  unit.pairs.push_back(index);
  unit.cells_ms += cells_ms(plan, pair);
  unit.libraries.insert({pair.environment, pair.first});
  unit.libraries.insert({pair.environment, pair.second});
}

/// The number of each library within its environment, in the order in which pairs name them.
std::map<std::pair<std::string, std::string>, std::size_t> numbered(const Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::size_t> numbers;
  std::map<std::string, std::size_t> next;
  for (const Pair& pair : plan.pairs) {
    for (const std::string& library : {pair.first, pair.second}) {
      const auto added = numbers.try_emplace({pair.environment, library}, 0);
      if (added.second) added.first->second = next[pair.environment]++;
    }
  }
  return numbers;
}

/// Divides the libraries of each environment into blocks of `block`. The pairs between two blocks
/// form a unit, so that a shard imports few libraries for many pairs.
std::vector<Unit> units_of(const Plan& plan, std::size_t block) {
  const auto numbers = numbered(plan);
  std::map<std::tuple<std::string, std::size_t, std::size_t>, Unit> units;
  for (std::size_t index = 0; index < plan.pairs.size(); ++index) {
    const Pair& pair = plan.pairs[index];
    const std::size_t first = numbers.at({pair.environment, pair.first}) / block;
    const std::size_t second = numbers.at({pair.environment, pair.second}) / block;
    add_pair(plan, index,
             units[{pair.environment, std::min(first, second), std::max(first, second)}]);
  }
  std::vector<Unit> found;
  for (auto& [blocks, unit] : units) found.push_back(std::move(unit));
  return found;
}

/// Assigns each unit, the longest first, to the part that is then the shortest. Additional imports
/// count 1 + `weight` times, so that with a higher weight fewer parts import the same library.
std::vector<Part> divide(std::vector<Unit> units, std::size_t of, std::uint64_t weight) {
  std::stable_sort(units.begin(), units.end(),
                   [](const Unit& a, const Unit& b) { return Part().with(a) > Part().with(b); });
  std::vector<Part> parts(of);
  for (const Unit& unit : units) {
    const auto cost = [&](const Part& part) {
      const std::uint64_t then = part.with(unit);
      return then + weight * (then - part.ms - unit.cells_ms);
    };
    std::min_element(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
      return cost(a) < cost(b);
    })->add(unit);
  }
  return parts;
}

std::uint64_t longest(const std::vector<Part>& parts) {
  std::uint64_t most = 0;
  for (const Part& part : parts) {
    if (part.pairs.empty()) return std::numeric_limits<std::uint64_t>::max();
    most = std::max(most, part.ms);
  }
  return most;
}

/// Divides with the block size and the weight that make the longest part shortest.
std::vector<Part> divide(const Plan& plan, std::size_t of) {
  std::vector<Part> best = divide(units_of(plan, 1), of, 0);
  for (std::size_t block = 1; block <= plan.libraries.size(); ++block) {
    for (const std::uint64_t weight : {0, 1, 2}) {
      std::vector<Part> parts = divide(units_of(plan, block), of, weight);
      if (longest(parts) < longest(best)) best = std::move(parts);
    }
  }
  return best;
}

using PairKey = std::tuple<std::string, std::string, std::string>;

PairKey pair_key(const std::string& environment, const std::string& a, const std::string& b) {
  return {environment, std::min(a, b), std::max(a, b)};
}

}  // namespace

std::uint64_t expected_ms(const Plan& plan) {
  Unit unit;
  for (std::size_t index = 0; index < plan.pairs.size(); ++index) add_pair(plan, index, unit);
  return Part().with(unit);
}

Plan shard(const Plan& whole, std::size_t number, std::size_t of) {
  if (number < 1 || number > of) {
    throw UsageError("unknown shard " + std::to_string(number) + "/" + std::to_string(of) +
                     "; allowed: 1/" + std::to_string(of) + " to " + std::to_string(of) + "/" +
                     std::to_string(of));
  }
  if (whole.pairs.size() < of) {
    throw UsageError(std::to_string(of) + " shards are too many: the plan has only " +
                     std::to_string(whole.pairs.size()) +
                     " pairs of libraries, and each shard needs one");
  }
  std::vector<std::size_t> chosen = divide(whole, of)[number - 1].pairs;
  std::sort(chosen.begin(), chosen.end());

  Plan plan;
  plan.libraries = whole.libraries;
  plan.case_sweep = whole.case_sweep;
  std::set<PairKey> own, measured;
  for (const Pair& pair : whole.pairs) {
    measured.insert(pair_key(pair.environment, pair.first, pair.second));
  }
  for (const std::size_t index : chosen) {
    Pair pair = whole.pairs[index];
    own.insert(pair_key(pair.environment, pair.first, pair.second));
    for (std::size_t& cell : pair.cells) {
      plan.cells.push_back(whole.cells[cell]);
      cell = plan.cells.size() - 1;
    }
    plan.pairs.push_back(std::move(pair));
  }
  for (const Entry& entry : whole.excluded) {
    const Exchange& exchange = entry.cell.exchange;
    const PairKey its = pair_key(exchange.environment, exchange.producer, exchange.consumer);
    // The first part records the excluded cells of pairs that no part measures.
    if (own.contains(its) || (number == 1 && !measured.contains(its))) {
      plan.excluded.push_back(entry);
    }
  }
  plan.fingerprint = fingerprint(plan);
  plan.whole = whole.fingerprint;
  return plan;
}

}  // namespace dlbench::plan

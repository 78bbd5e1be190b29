#include "results/comparison/core_speed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::results {
namespace {

bool knows_speed(const SideCell& cell) {
  return !cell.cores_ns.empty() && cell.cores_ns.size() == cell.workers.medians.size() &&
         std::ranges::all_of(cell.cores_ns, [](double ns) { return ns > 0; });
}

void scale(SideCell& cell, double to_ns) {
  for (std::size_t i = 0; i < cell.cores_ns.size(); ++i) {
    cell.workers.medians[i] *= to_ns / cell.cores_ns[i];
  }
  if (cell.median_ns > 0) cell.median_ns = stats::median(cell.workers.medians);
}

}  // namespace

double CoreSpeed::change() const {
  return std::log(head_ns / base_ns);
}

std::map<Place, CoreSpeed> put_at_one_speed(Side& base, Side& head, bool between_sides) {
  struct Pair {
    SideCell *base, *head;
  };
  std::vector<Pair> pairs;
  std::map<Place, std::array<std::vector<double>, 2>> times;
  auto after = head.cells.begin();
  for (SideCell& before : base.cells) {
    after = std::lower_bound(after, head.cells.end(), before.name,
                             [](const SideCell& cell, auto name) { return cell.name < name; });
    if (after == head.cells.end()) break;
    if (after->name != before.name || !knows_speed(before) || !knows_speed(*after)) continue;
    pairs.push_back({&before, &*after});
    auto& [first, second] = times[*before.place];
    first.insert(first.end(), before.cores_ns.begin(), before.cores_ns.end());
    second.insert(second.end(), after->cores_ns.begin(), after->cores_ns.end());
  }
  std::map<Place, CoreSpeed> speeds;
  for (auto& [place, sides] : times) {
    speeds[place] = {stats::median(sides[0]), stats::median(sides[1])};
  }
  for (const Pair& pair : pairs) {
    const CoreSpeed& speed = speeds.at(*pair.base->place);
    scale(*pair.base, speed.base_ns);
    scale(*pair.head, between_sides ? speed.base_ns : speed.head_ns);
    pair.base->at_one_speed = pair.head->at_one_speed = between_sides;
  }
  return between_sides ? speeds : std::map<Place, CoreSpeed>{};
}

double slowed_by_cell(const SideCell& base, const SideCell& head, const CoreSpeed& place) {
  return std::log(stats::median(head.cores_ns) / stats::median(base.cores_ns)) - place.change();
}

}  // namespace dlbench::results

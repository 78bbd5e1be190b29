#include "results/comparison/core_speed.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::results {
namespace {

bool knows_speed(const SideCell& cell) {
  return !cell.cores_ns.empty() && cell.cores_ns.size() == cell.workers.medians.size() &&
         std::ranges::all_of(cell.cores_ns, [](double ns) { return ns > 0; });
}

void scale(SideCell& cell, double base_ns) {
  for (std::size_t i = 0; i < cell.cores_ns.size(); ++i) {
    cell.workers.medians[i] *= base_ns / cell.cores_ns[i];
  }
  if (cell.median_ns > 0) cell.median_ns = stats::median(cell.workers.medians);
  cell.at_one_speed = true;
}

}  // namespace

double CoreSpeed::change() const {
  return std::log(head_ns / base_ns);
}

std::map<Place, CoreSpeed> put_at_one_speed(Side& base, Side& head) {
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
    const double base_ns = speeds.at(*pair.base->place).base_ns;
    scale(*pair.base, base_ns);
    scale(*pair.head, base_ns);
  }
  return speeds;
}

double slowed_by_cell(const SideCell& base, const SideCell& head, const CoreSpeed& place) {
  return std::log(stats::median(head.cores_ns) / stats::median(base.cores_ns)) - place.change();
}

}  // namespace dlbench::results

#include "model/names.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/contains.hpp"
#include "model/error.hpp"

namespace dlbench {
namespace {

// The number of letters that are deleted, inserted, replaced, or swapped with their neighbor.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last, row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = row[j] + (a[i] == b[j] ? 0 : 1);
      next[j + 1] = std::min({replaced, row[j + 1] + 1, next[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        next[j + 1] = std::min(next[j + 1], last[j - 1] + 1);
      }
    }
    last = row;
    row.swap(next);
  }
  return row.back();
}

}  // namespace

std::string_view call_for(std::string_view protocol, std::span<const std::string> offered) {
  if (contains(offered, protocol)) return protocol;
  if (protocol == Protocol::dlpack_legacy || protocol == Protocol::dlpack_versioned) {
    return contains(offered, "dlpack") ? "dlpack" : "";
  }
  // A consumer of the C exchange API has its own entry for it.
  const bool is_converted = protocol != Protocol::dlpack && protocol != Protocol::dlpack_c &&
                            protocol != Protocol::call && !is_dispatch(protocol);
  return is_converted && contains(offered, "convert") ? "convert" : "";
}

std::string nearest(std::string_view wanted, std::span<const std::string> allowed) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : allowed) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string> allowed) {
  const std::string near = nearest(wanted, allowed);
  return near.empty() ? "" : " (did you mean '" + near + "'?)";
}

void require_known(std::string_view what, std::string_view wanted,
                   std::span<const std::string> allowed) {
  if (contains(allowed, wanted)) return;
  std::string text = "unknown " + std::string(what) + " '" + std::string(wanted) + "'" +
                     did_you_mean(wanted, allowed) + "; allowed:";
  for (std::size_t i = 0; i < allowed.size(); ++i) text += (i ? ", " : " ") + allowed[i];
  throw UsageError(text);
}

}  // namespace dlbench

#include "results/comparison/compare_outcome.hpp"

#include <algorithm>
#include <optional>

#include "model/contains.hpp"

namespace dlbench::results {
namespace {

/// The rank of an outcome; lower is better. None for `unproven`, which is neither better nor worse
/// than another measured outcome.
std::optional<int> rank(Outcome outcome) {
  switch (outcome) {
    case Outcome::zero_copy:
      return 0;
    case Outcome::copy:
    case Outcome::device_copy:
      return 1;
    case Outcome::unproven:
      return std::nullopt;
    case Outcome::refused:
    case Outcome::unsupported:
    case Outcome::no_protocol:
      return 2;
    default:
      return 3;
  }
}

/// Is `untimed` a phase that was not timed, and has the other side no measured outcome of it
/// either? Then nothing is known to have changed.
bool is_unknown_phase(const SideCell& untimed, const SideCell& other) {
  return untimed.untimed_phase && !is_measured(other.outcome);
}

/// Do the outcomes of the two sides overlap?
bool overlap(const std::vector<Outcome>& first, const std::vector<Outcome>& second) {
  return std::any_of(first.begin(), first.end(),
                     [&](Outcome word) { return contains(second, word); });
}

/// "zero-copy or copy"
std::string text_of(const std::vector<Outcome>& words) {
  std::string text;
  for (const Outcome word : words) {
    if (!text.empty()) text += " or ";
    text += to_string(word);
  }
  return text;
}

}  // namespace

bool is_present(Outcome outcome) {
  return outcome != Outcome::not_run && outcome != Outcome::not_installed &&
         outcome != Outcome::no_device;
}

OutcomeVerdict compare_outcomes(const SideCell& base, const SideCell& head) {
  OutcomeVerdict verdict;
  if (is_unknown_phase(base, head) || is_unknown_phase(head, base)) return verdict;
  bool worse = false, better = false;
  if (base.outcome != head.outcome) {
    const std::vector<Outcome> was = base.all_words(), is = head.all_words();
    verdict.change = OutcomeChange::other;
    verdict.details.push_back(text_of(was) + " -> " + text_of(is));
    // A different mix of the same outcomes in disagreeing workers is no change of the library.
    if (overlap(was, is)) return verdict;
    // A lost number is worse, even that of an `unproven` cell.
    const int before = rank(base.outcome).value_or(is_measured(head.outcome) ? -1 : 1);
    const int after = rank(head.outcome).value_or(is_measured(base.outcome) ? -1 : 1);
    worse = before >= 0 && after > before;
    better = after >= 0 && after < before;
  }
  if (is_measured(base.outcome) && is_measured(head.outcome)) {
    for (const std::string& word : head.changed) {
      if (contains(base.changed, word)) continue;
      worse = true;
      verdict.details.push_back(word + " is now lost");
    }
    for (const std::string& word : base.changed) {
      if (contains(head.changed, word)) continue;
      better = true;
      verdict.details.push_back(word + " is no longer lost");
    }
    if (base.late_read != head.late_read) {
      (head.late_read ? worse : better) = true;
      verdict.details.emplace_back(head.late_read ? "late read in head only"
                                                  : "late read in base only");
    }
  }
  if (worse)
    verdict.change = OutcomeChange::worse;
  else if (better)
    verdict.change = OutcomeChange::better;
  return verdict;
}

}  // namespace dlbench::results

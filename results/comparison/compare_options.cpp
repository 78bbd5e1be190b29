#include "results/comparison/compare_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "model/cell.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

/// The options that select cells, and the axis of each; "" if it is not a single axis.
constexpr std::array<std::pair<const char*, const char*>, 11> kOptions{{{"pair", ""},
                                                                        {"filter", ""},
                                                                        {"producers", "producer"},
                                                                        {"consumers", "consumer"},
                                                                        {"protocols", "protocol"},
                                                                        {"devices", "device"},
                                                                        {"cases", "case"},
                                                                        {"sizes", "bytes"},
                                                                        {"arrays", "arrays"},
                                                                        {"phases", "phase"},
                                                                        {"env", "environment"}}};

/// The words of an option as a set; empty without the option.
std::set<std::string> words_of(const json& request, const char* option) {
  std::set<std::string> words;
  const json value = request.is_object() ? request.value(option, json()) : json();
  if (value.is_string() && !value.get<std::string>().empty()) words.insert(value);
  if (!value.is_array()) return words;
  for (const json& word : value) {
    if (word.is_string()) words.insert(word.get<std::string>());
  }
  return words;
}

/// "4KiB, 64KiB"; only the first few of many.
std::string text_of(const std::set<std::string>& words) {
  constexpr std::size_t kMost = 4;
  if (words.empty()) return "the default";
  std::string text;
  std::size_t listed = 0;
  for (const std::string& word : words) {
    if (listed == kMost) return text + " and " + std::to_string(words.size() - kMost) + " more";
    text += (listed++ > 0 ? ", " : "") + word;
  }
  return text;
}

std::string text_of(const std::string& value) {
  return value;
}
std::string text_of(std::uint64_t value) {
  return std::to_string(value);
}

}  // namespace

OptionsDiffer::OptionsDiffer(const Side& base, const Side& head) {
  for (const auto& [machine, before] : base.requests) {
    const auto other = head.requests.find(machine);
    if (other == head.requests.end()) continue;
    Place place;
    const auto difference = [&](const char* option) -> std::string {
      const auto was = words_of(before, option), is = words_of(other->second, option);
      return was == is ? "" : text_of(was) + " in base, " + text_of(is) + " in head";
    };
    place.budget = difference("budget");
    for (const auto& [option, axis] : kOptions) {
      const std::string text = difference(option);
      if (text.empty()) continue;
      differing_[option] = text;
      const std::string name = axis;
      if (name.empty())
        place.any = true;
      else
        place.axes[name] = option;
    }
    if (place.any || !place.axes.empty() || !place.budget.empty())
      places_.emplace(machine, std::move(place));
  }
  const std::array<const Side*, 2> sides{&base, &head};
  for (std::size_t side = 0; side < sides.size() && !places_.empty(); ++side) {
    for (const SideCell& each : sides.at(side)->cells) {
      const auto place = places_.find(each.place->first);
      if (place == places_.end() || place->second.axes.empty()) continue;
      const Cell cell = cell_from_name(each.name);
      each_axis(cell, [&](const char* axis, const auto& value) {
        if (place->second.axes.contains(axis)) {
          place->second.values.at(side)[axis].insert(text_of(value));
        }
      });
    }
  }
}

bool OptionsDiffer::left_out(const SideCell& cell, const SideCell* other, bool is_base) {
  const auto found = places_.find(cell.place->first);
  if (found == places_.end()) return false;
  const Place& place = found->second;
  if (other != nullptr) {
    if (place.budget.empty() || other->outcome != Outcome::not_run) return false;
    differing_["budget"] = place.budget;
    ++counts_.at(is_base ? 0 : 1);
    return true;
  }
  bool out = place.any;
  if (!out) {
    const Values& there = place.values.at(is_base ? 1 : 0);
    const Cell axes = cell_from_name(cell.name);
    each_axis(axes, [&](const char* axis, const auto& value) {
      if (!place.axes.contains(axis)) return;
      const auto values = there.find(axis);
      out = out || values == there.end() || !values->second.contains(text_of(value));
    });
  }
  counts_.at(is_base ? 0 : 1) += out ? 1 : 0;
  return out;
}

std::string OptionsDiffer::line() const {
  if (counts_[0] + counts_[1] == 0) return "";
  std::string text = "the options of the two runs differ (";
  std::string_view gap;
  for (const auto& [option, values] : differing_) {
    text.append(gap).append(option + ": " + values);
    gap = "; ";
  }
  return text + "), so only the cells of both runs are compared; " + std::to_string(counts_[0]) +
         " are only in base and " + std::to_string(counts_[1]) + " only in head";
}

}  // namespace dlbench::results

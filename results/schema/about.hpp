#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

/// What a field's declaration says beyond its key and member: the allowed values and the sentence
/// of the reference.
namespace dlbench::results {

/// The form of a text. A replacement for std::regex, which uses a stack frame for each letter.
struct Pattern {
  std::string_view expression;  ///< of the schema
  bool (*fits)(std::string_view text);
  std::string_view shown;
};

/// The allowed values of a field or, of a list, of its items.
struct Rule {
  std::string_view name{};      ///< of `$defs`, if several fields share the rule
  std::string_view sentence{};  ///< of that definition
  std::optional<double> least{}, most{};
  bool is_open = false;              ///< without `least` and `most` themselves
  std::string_view words{};          ///< the allowed texts, separated by spaces
  const Pattern* pattern = nullptr;  ///< of a text; of an object with any keys: of its keys
  std::string_view absent{};         ///< the value that an absent key stands for, as JSON
  std::size_t least_items = 0, most_items = std::numeric_limits<std::size_t>::max();

  /// The same for the items of a list with at least so many.
  constexpr Rule items(std::size_t least_number) const {
    Rule made = *this;
    made.least_items = least_number;
    return made;
  }

  /// The same for a key that stands for this value if it is absent.
  constexpr Rule or_else(std::string_view json) const {
    Rule made = *this;
    made.absent = json;
    return made;
  }

  bool admits(double number) const {
    if (is_open) return (!least || number > *least) && (!most || number < *most);
    return (!least || number >= *least) && (!most || number <= *most);
  }
  bool admits(std::string_view text) const;
  /// "a number from 0 to 1"; `kind` is "a number".
  std::string expected(std::string_view kind) const;
};

inline std::string_view word_of(std::string_view word) {
  return word;
}
template <typename Row>
std::string_view word_of(const Row& row) {
  return row.code;
}

/// The words of a table, or the codes of its rows, as `Rule::words`.
template <typename Table>
std::string joined(const Table& table) {
  std::string text;
  for (const auto& each : table) text.append(text.empty() ? "" : " ").append(word_of(each));
  return text;
}

constexpr Rule words(std::string_view allowed) {
  return {.words = allowed};
}
constexpr Rule between(double least, double most) {
  return {.least = least, .most = most};
}

inline bool is_axis(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](unsigned char letter) {
    return letter == '/' || letter < ' ' || letter == '\x7f';
  });
}
inline constexpr Pattern kAxisPattern{"^[^/\\u0000-\\u001f\\u007f]+$", is_axis,
                                      "a text without '/' or control characters"};

inline constexpr double kMostCount = 9007199254740991;
inline constexpr Rule kAny{};
inline constexpr Rule kCount{
    .name = "count",
    .sentence = "An integer up to 2^53 - 1, which every JSON reader represents exactly.",
    .least = 0,
    .most = kMostCount};
inline constexpr Rule kNumber{.name = "number", .least = -1e18, .most = 1e18};
inline constexpr Rule kNonNegative{.name = "non_negative", .least = 0, .most = 1e18};
inline constexpr Rule kPositive{.name = "positive", .least = 1e-18, .most = 1e18};
inline constexpr Rule kAxis{.name = "axis", .pattern = &kAxisPattern};

struct About {
  // NOLINTNEXTLINE(google-explicit-constructor): a sentence alone is the usual case
  constexpr About(const char* text) : sentence(text) {}
  constexpr About(const Rule& allowed, std::string_view text = "")
      : rule(allowed), sentence(text) {}

  Rule rule{};
  std::string_view sentence;
};

}  // namespace dlbench::results

#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/codes.hpp"
#include "model/contains.hpp"

namespace dlbench {

/// A warning about the number or the outcome of a cell. Programs use the code and the data; the
/// text is for people.
struct Warning {
  using Data = std::map<std::string, std::string>;

  std::string code;  ///< of codes::kWarnings
  std::string text;
  Data data{};  ///< the names and numbers in the text

  friend bool operator==(const Warning&, const Warning&) = default;
};

/// Data with one value; empty if the value is empty.
inline Warning::Data data_of(const char* key, const std::string& value) {
  return value.empty() ? Warning::Data{} : Warning::Data{{key, value}};
}

using Warnings = std::vector<Warning>;

/// Appends the warning unless the list contains it.
inline void warn(Warnings& warnings, Warning warning) {
  add_new(warnings, std::move(warning));
}

/// "few rounds" for the code `few-rounds`.
inline std::string readable(codes::WarningCode code) {
  std::string words(code.word);
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

/// The text is readable(code) unless `text` is not empty.
inline void warn(Warnings& warnings, codes::WarningCode code, std::string text = {},
                 Warning::Data data = {}) {
  if (text.empty()) text = readable(code);
  warn(warnings, {std::string(code.word), std::move(text), std::move(data)});
}

inline void warn(Warnings& warnings, const Warnings& others) {
  for (const Warning& other : others) warn(warnings, other);
}

inline void forget(Warnings& warnings, codes::WarningCode code) {
  std::erase_if(warnings, [&](const Warning& warning) { return warning.code == code.word; });
}

inline bool has(const Warnings& warnings, codes::WarningCode code) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const Warning& warning) { return warning.code == code.word; });
}

/// `Json` is nlohmann::json or nlohmann::ordered_json.
template <typename Json>
void to_json(Json& item, const Warning& warning) {
  item["code"] = warning.code;
  item["text"] = warning.text;
  if (!warning.data.empty()) item["data"] = warning.data;
}

/// Writes the keys `reason`, `code` and `data`; nothing without a code.
template <typename Json>
void put_reason(Json& item, const Warning& reason) {
  if (reason.code.empty()) return;
  item["reason"] = reason.text;
  item["code"] = reason.code;
  if (!reason.data.empty()) item["data"] = reason.data;
}

}  // namespace dlbench

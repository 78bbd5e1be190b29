#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/codes.hpp"

namespace dlbench {

/// A caveat on a cell's number or verdict. Programs decide by the code and the data; the text is
/// for people.
struct Warning {
  using Data = std::map<std::string, std::string>;

  std::string code;  ///< of codes::kWarnings
  std::string text;
  Data data{};  ///< the names and numbers in the text, where it has any

  friend bool operator==(const Warning&, const Warning&) = default;
};

/// The value of that name alone; nothing where the name is absent.
inline Warning::Data data_of(const char* key, const std::string& value) {
  return value.empty() ? Warning::Data{} : Warning::Data{{key, value}};
}

using Warnings = std::vector<Warning>;

/// Each warning once.
inline void warn(Warnings& warnings, Warning warning) {
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
    warnings.push_back(std::move(warning));
  }
}

/// The words of a code: "few rounds" of `few-rounds`.
inline std::string readable(codes::WarningCode code) {
  std::string words(code.word);
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

/// Without a text, the text is the code's words.
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

/// Writes JSON of nlohmann's, ordered or not.
template <typename Json>
void to_json(Json& item, const Warning& warning) {
  item["code"] = warning.code;
  item["text"] = warning.text;
  if (!warning.data.empty()) item["data"] = warning.data;
}

/// The same as the keys of a reason; none where there is no reason.
template <typename Json>
void put_reason(Json& item, const Warning& reason) {
  if (reason.code.empty()) return;
  item["reason"] = reason.text;
  item["code"] = reason.code;
  if (!reason.data.empty()) item["data"] = reason.data;
}

}  // namespace dlbench

#include "results/fields.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/error.hpp"

namespace dlbench::results {
namespace {

constexpr std::size_t kShownLength = 60;

bool is_finite_number(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

}  // namespace

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kShownLength) text = text.substr(0, kShownLength) + "...";
  return text;
}

std::string pointer_part(std::string_view key) {
  std::string part;
  for (const char letter : key) {
    if (letter == '~')
      part += "~0";
    else if (letter == '/')
      part += "~1";
    else
      part += static_cast<unsigned char>(letter) < ' ' || letter == '\x7f' ? '?' : letter;
  }
  return part;
}

Fields::Fields(const nlohmann::json& value, std::string place)
    : value_(&value), place_(std::move(place)) {
  if (!value.is_object()) {
    throw UsageError(place_ + ": expected an object, found " + shown(value));
  }
}

std::string Fields::place(std::string_view key) const {
  return place_ + "/" + pointer_part(key);
}

void Fields::fail(std::string_view key, std::string_view expected) const {
  const auto found = value_->find(key);
  const std::string what = found == value_->end() ? "nothing" : shown(*found);
  throw UsageError(place(key) + ": expected " + std::string(expected) + ", found " + what);
}

bool Fields::has(std::string_view key) const {
  return value_->find(key) != value_->end();
}

const nlohmann::json& Fields::at(std::string_view key, std::string_view expected) const {
  const auto found = value_->find(key);
  if (found == value_->end()) fail(key, expected);
  return *found;
}

Fields Fields::object(std::string_view key) const {
  const nlohmann::json& value = at(key, "an object");
  if (!value.is_object()) fail(key, "an object");
  return {value, place(key)};
}

const nlohmann::json& Fields::list(std::string_view key) const {
  const nlohmann::json& value = at(key, "a list");
  if (!value.is_array()) fail(key, "a list");
  return value;
}

std::string Fields::text(std::string_view key) const {
  const nlohmann::json& value = at(key, "a text");
  if (!value.is_string()) fail(key, "a text");
  return value.get<std::string>();
}

std::string Fields::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

bool Fields::flag(std::string_view key) const {
  const nlohmann::json& value = at(key, "true or false");
  if (!value.is_boolean()) fail(key, "true or false");
  return value.get<bool>();
}

std::uint64_t Fields::count(std::string_view key) const {
  constexpr std::string_view kExpected = "an integer, at least 0";
  const nlohmann::json& value = at(key, kExpected);
  if (!value.is_number_unsigned()) fail(key, kExpected);
  return value.get<std::uint64_t>();
}

double Fields::number(std::string_view key) const {
  constexpr std::string_view kExpected = "a finite number, at least 0";
  const nlohmann::json& value = at(key, kExpected);
  if (!is_finite_number(value) || value.get<double>() < 0) fail(key, kExpected);
  return value.get<double>();
}

double Fields::signed_number(std::string_view key) const {
  constexpr std::string_view kExpected = "a finite number";
  const nlohmann::json& value = at(key, kExpected);
  if (!is_finite_number(value)) fail(key, kExpected);
  return value.get<double>();
}

double Fields::positive(std::string_view key) const {
  constexpr std::string_view kExpected = "a finite number above 0";
  const nlohmann::json& value = at(key, kExpected);
  if (!is_finite_number(value) || value.get<double>() <= 0) fail(key, kExpected);
  return value.get<double>();
}

std::vector<std::string> Fields::texts(std::string_view key) const {
  std::vector<std::string> all;
  for (const nlohmann::json& value : list(key)) {
    if (!value.is_string()) {
      throw UsageError(place(key) + "/" + std::to_string(all.size()) + ": expected a text, found " +
                       shown(value));
    }
    all.push_back(value.get<std::string>());
  }
  return all;
}

std::vector<double> Fields::numbers(std::string_view key) const {
  std::vector<double> all;
  for (const nlohmann::json& value : list(key)) {
    if (!is_finite_number(value)) {
      throw UsageError(place(key) + "/" + std::to_string(all.size()) +
                       ": expected a finite number, found " + shown(value));
    }
    all.push_back(value.get<double>());
  }
  return all;
}

std::vector<double> Fields::positives(std::string_view key) const {
  std::vector<double> all;
  for (const nlohmann::json& value : list(key)) {
    if (!is_finite_number(value) || value.get<double>() <= 0) {
      throw UsageError(place(key) + "/" + std::to_string(all.size()) +
                       ": expected a finite number above 0, found " + shown(value));
    }
    all.push_back(value.get<double>());
  }
  return all;
}

std::string Fields::one_of(std::string_view key, std::span<const std::string_view> allowed) const {
  std::string word = text(key);
  if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
    std::string expected = "one of";
    for (const std::string_view each : allowed) expected.append(" ").append(each);
    fail(key, expected);
  }
  return word;
}

}  // namespace dlbench::results

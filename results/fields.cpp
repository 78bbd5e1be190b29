#include "results/fields.hpp"

#include <algorithm>
#include <utility>

#include "model/error.hpp"

namespace dlbench::results {
namespace {

constexpr std::string_view kCount = "an integer from 0 to 9007199254740991";
constexpr std::string_view kNumber = "a number from 0 to 1e+18";
constexpr std::string_view kSigned = "a number from -1e+18 to 1e+18";
constexpr std::string_view kPositive = "a number from 1e-18 to 1e+18";

bool is_within(const Value& value, double least) {
  return value.is_number() && value.number() >= least && value.number() <= kMostNumber;
}

std::vector<double> each_within(std::span<const Value> values, double least,
                                std::string_view expected, const std::string& place) {
  std::vector<double> all;
  all.reserve(values.size());
  for (const Value& value : values) {
    if (!is_within(value, least)) {
      std::string text = place + "/" + std::to_string(all.size()) + ": expected ";
      throw UsageError(text.append(expected).append(", found ") + shown(value));
    }
    all.push_back(value.number());
  }
  return all;
}

}  // namespace

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

Fields::Fields(const Value& value, std::string place) : value_(&value), place_(std::move(place)) {
  if (!value.is_object()) {
    throw UsageError(place_ + ": expected an object, found " + shown(value));
  }
}

std::string Fields::place(std::string_view key) const {
  return place_ + "/" + pointer_part(key);
}

void Fields::fail(std::string_view key, std::string_view expected) const {
  const Value* found = look_up(key);
  const std::string what = found == nullptr ? "nothing" : shown(*found);
  throw UsageError(place(key) + ": expected " + std::string(expected) + ", found " + what);
}

const Value* Fields::look_up(std::string_view key) const {
  const std::span<const Member> members = value_->members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (next_ >= members.size()) next_ = 0;
    const Member& member = members[next_++];
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

bool Fields::has(std::string_view key) const {
  return look_up(key) != nullptr;
}

const Value& Fields::at(std::string_view key, std::string_view expected) const {
  const Value* found = look_up(key);
  if (found == nullptr) fail(key, expected);
  return *found;
}

Fields Fields::object(std::string_view key) const {
  const Value& value = at(key, "an object");
  if (!value.is_object()) fail(key, "an object");
  return {value, place(key)};
}

std::span<const Value> Fields::list(std::string_view key) const {
  const Value& value = at(key, "a list");
  if (!value.is_list()) fail(key, "a list");
  return value.items();
}

std::string Fields::text(std::string_view key) const {
  const Value& value = at(key, "a text");
  if (!value.is_text()) fail(key, "a text");
  return std::string(value.text());
}

std::string Fields::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

bool Fields::flag(std::string_view key) const {
  const Value& value = at(key, "true or false");
  if (!value.is_flag()) fail(key, "true or false");
  return value.flag();
}

std::uint64_t Fields::count(std::string_view key) const {
  const Value& value = at(key, kCount);
  if (!value.is_count() || value.count() > kMostCount) fail(key, kCount);
  return value.count();
}

double Fields::number(std::string_view key) const {
  const Value& value = at(key, kNumber);
  if (!is_within(value, 0)) fail(key, kNumber);
  return value.number();
}

double Fields::signed_number(std::string_view key) const {
  const Value& value = at(key, kSigned);
  if (!is_within(value, -kMostNumber)) fail(key, kSigned);
  return value.number();
}

double Fields::positive(std::string_view key) const {
  const Value& value = at(key, kPositive);
  if (!is_within(value, kLeastPositive)) fail(key, kPositive);
  return value.number();
}

std::vector<std::string> Fields::texts(std::string_view key) const {
  std::vector<std::string> all;
  for (const Value& value : list(key)) {
    if (!value.is_text()) {
      throw UsageError(place(key) + "/" + std::to_string(all.size()) + ": expected a text, found " +
                       shown(value));
    }
    all.emplace_back(value.text());
  }
  return all;
}

std::vector<double> Fields::numbers(std::string_view key) const {
  return each_within(list(key), -kMostNumber, kSigned, place(key));
}

std::vector<double> Fields::positives(std::string_view key) const {
  return each_within(list(key), kLeastPositive, kPositive, place(key));
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

#include "results/fields.hpp"

#include <utility>

#include "model/error.hpp"

namespace dlbench::results {

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
  const Value* found = find(key);
  const std::string what = found == nullptr ? "nothing" : shown(*found);
  throw UsageError(place(key) + ": expected " + std::string(expected) + ", found " + what);
}

const Value* Fields::find(std::string_view key) const {
  const std::span<const Member> members = value_->members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (next_ >= members.size()) next_ = 0;
    const Member& member = members[next_++];
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const Value& Fields::at(std::string_view key) const {
  const Value* found = find(key);
  if (found == nullptr) fail(key, "a value");
  return *found;
}

Fields Fields::object(std::string_view key) const {
  return {at(key), place(key)};
}

std::span<const Value> Fields::list(std::string_view key) const {
  const Value& value = at(key);
  if (!value.is_list()) fail(key, "a list");
  return value.items();
}

std::string Fields::text(std::string_view key) const {
  const Value& value = at(key);
  if (!value.is_text()) fail(key, "a text");
  return std::string(value.text());
}

std::string Fields::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

std::uint64_t Fields::count(std::string_view key) const {
  const Value& value = at(key);
  if (!value.is_count()) fail(key, "a count");
  return value.count();
}

}  // namespace dlbench::results

#include "results/value.hpp"

#include <algorithm>

namespace dlbench::results {

double Value::number() const {
  switch (kind_) {
    case Kind::count:
      return static_cast<double>(count_);
    case Kind::integer:
      return static_cast<double>(integer_);
    default:
      return real_;
  }
}

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

nlohmann::json Value::json() const {
  using nlohmann::json;
  switch (kind_) {
    case Kind::nothing:
      return nullptr;
    case Kind::flag:
      return flag_;
    case Kind::count:
      return count_;
    case Kind::integer:
      return integer_;
    case Kind::real:
      return real_;
    case Kind::text:
      return text();
    case Kind::list: {
      json made = json::array();
      for (const Value& item : items()) made.push_back(item.json());
      return made;
    }
    case Kind::object: {
      json made = json::object();
      for (const auto& [key, value] : members()) made.emplace(key, value.json());
      return made;
    }
  }
  return nullptr;
}

std::string shown(const Value& value) {
  if (value.is_object()) return "an object";
  if (value.is_list()) return "a list";
  return shown(value.json());
}

std::string shown(const nlohmann::json& value) {
  constexpr std::size_t kMost = 60;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::replace(text.begin(), text.end(), '\x7f',
               '?');  // JSON does not escape this control character
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

}  // namespace dlbench::results

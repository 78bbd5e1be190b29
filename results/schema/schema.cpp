#include "results/schema/schema.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/contains.hpp"
#include "model/error.hpp"
#include "results/fields.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Objects with fewer members are searched linearly.
constexpr std::size_t kFewMembers = 4;

enum Kind : unsigned {
  kNull = 1,
  kFlag = 2,
  kInteger = 4,
  kNumber = 8,  ///< integers too
  kText = 16,
  kList = 32,
  kObject = 64,
  kAnyKind = 127,
};

struct KindName {
  std::string_view in_schema;
  Kind kind;
  std::string_view shown;
};
constexpr std::array<KindName, 7> kKindNames{{{"null", kNull, "null"},
                                              {"boolean", kFlag, "true or false"},
                                              {"integer", kInteger, "an integer"},
                                              {"number", kNumber, "a number"},
                                              {"string", kText, "a text"},
                                              {"array", kList, "a list"},
                                              {"object", kObject, "an object"}}};

unsigned kinds_of(const Value& value) {
  if (value.is_null()) return kNull;
  if (value.is_flag()) return kFlag;
  if (value.is_integer()) return kInteger | kNumber;
  if (value.is_number()) return kNumber;
  if (value.is_text()) return kText;
  return value.is_list() ? kList : kObject;
}

bool is_axis(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](unsigned char letter) {
    return letter == '/' || letter < ' ' || letter == '\x7f';
  });
}

bool is_letter(char letter) {
  return letter >= 'a' && letter <= 'z';
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool is_rule(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || point == 0 || point + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(point),
                     [](char letter) { return is_letter(letter) || letter == '-'; }) &&
         std::all_of(
             text.begin() + static_cast<std::ptrdiff_t>(point) + 1, text.end(),
             [](char letter) { return is_letter(letter) || is_digit(letter) || letter == '-'; });
}

bool is_machine(std::string_view text) {
  const auto is_word = [](char letter) {
    return is_letter(letter) || is_digit(letter) || (letter >= 'A' && letter <= 'Z') ||
           letter == '_';
  };
  return !text.empty() && is_word(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char letter) {
           return is_word(letter) || letter == '.' || letter == '+' || letter == '-';
         });
}

/// Any text: the reader of entries compares the name with its axes.
bool is_name(std::string_view text) {
  return !text.empty();
}

/// A replacement for std::regex, which uses a stack frame for each letter of a text.
struct Pattern {
  std::string_view expression;
  bool (*fits)(std::string_view);
  std::string_view shown;
};
constexpr std::array<Pattern, 4> kPatterns{
    {{"^[^/\\u0000-\\u001f\\u007f]+$", is_axis, "a text without '/' or control characters"},
     {"^[a-z-]+[.][a-z0-9-]+$", is_rule, "a rule, as export.copy-true"},
     {"^[A-Za-z0-9_][A-Za-z0-9_.+-]*$", is_machine,
      "a name of letters, digits, '_', '.', '+', '-'"},
     {"^[a-z]+/producer:[^/]+/consumer:[^/]+/protocol:[^/]+/device:[^/]+/case:[^/]+/bytes:[0-9]+"
      "(/clock:[^/]+)?(/environment:[^/]+)?(/machine:[^/]+)?$",
      is_name, "the name that its axes form"}}};

const Pattern& pattern_of(const std::string& expression) {
  for (const Pattern& each : kPatterns) {
    if (each.expression == expression) return each;
  }
  throw std::invalid_argument("schema: unsupported pattern: " + expression);
}

/// Looks up keys without copying them.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

std::string short_number(double number) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.16g", number);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

struct Schema::Part {
  struct Member {
    const Part* part = nullptr;  ///< null: anything
    bool required = false;
  };

  unsigned kinds = kAnyKind;
  bool is_never = false;  ///< the schema `false`
  double least = -kInfinite, most = kInfinite;
  bool above_least = false, below_most = false;
  std::size_t least_items = 0, most_items = std::numeric_limits<std::size_t>::max();
  bool has_words = false;          ///< `enum` or `const`
  std::vector<std::string> words;  ///< the allowed texts
  bool null_is_word = false;
  std::optional<std::uint64_t> number_word;
  const Pattern* pattern = nullptr;
  std::unordered_map<std::string, Member, TextHash, std::equal_to<>> members;
  std::size_t required = 0;  ///< number of required members
  const Part* others = nullptr;
  const Part* keys = nullptr;
  const Part* items = nullptr;
  std::vector<const Part*> all, one;
  const Part* condition = nullptr;
  const Part* consequence = nullptr;
};

class Schema::Compiler {
 public:
  Compiler(const json& root, std::map<std::string, std::unique_ptr<Part>>& parts)
      : root_(root), parts_(parts) {}

  const Part* compile(const std::string& pointer) {
    std::unique_ptr<Part>& place = parts_[pointer];
    if (place) return place.get();
    place = std::make_unique<Part>();
    Part* const made = place.get();  // a part may refer to itself
    const json& text = root_.at(json::json_pointer(pointer));
    if (text.is_boolean()) {
      made->is_never = !text.get<bool>();
      return made;
    }
    for (const auto& [key, value] : text.items()) add(*made, key, value, pointer);
    return made;
  }

 private:
  const Part* below(const std::string& pointer, const std::string& key) {
    return compile(pointer + "/" + key);
  }

  void add(Part& part, const std::string& key, const json& value, const std::string& pointer) {
    const std::string here = pointer + "/" + key;
    if (key == "type") {
      part.kinds = 0;
      for (const json& name : value.is_array() ? value : json::array({value})) add_kind(part, name);
    } else if (key == "properties") {
      for (const auto& [name, inner] : value.items()) part.members[name].part = below(here, name);
    } else if (key == "required") {
      for (const json& name : value) require(part, name.get_ref<const std::string&>());
    } else if (key == "enum") {
      for (const json& word : value) add_word(part, word);
    } else if (key == "const") {
      add_word(part, value);
    } else if (key == "minimum" || key == "exclusiveMinimum") {
      part.least = value.get<double>();
      part.above_least = key != "minimum";
    } else if (key == "maximum" || key == "exclusiveMaximum") {
      part.most = value.get<double>();
      part.below_most = key != "maximum";
    } else if (key == "minItems") {
      part.least_items = value.get<std::size_t>();
    } else if (key == "maxItems") {
      part.most_items = value.get<std::size_t>();
    } else if (key == "pattern") {
      part.pattern = &pattern_of(value.get<std::string>());
    } else if (key == "$ref") {
      part.all.push_back(compile(value.get<std::string>().substr(1)));
    } else if (key == "oneOf") {
      for (std::size_t i = 0; i < value.size(); ++i) {
        part.one.push_back(below(here, std::to_string(i)));
      }
    } else if (key == "items") {
      part.items = compile(here);
    } else if (key == "additionalProperties") {
      part.others = compile(here);
    } else if (key == "propertyNames") {
      part.keys = compile(here);
    } else if (key == "if") {
      part.condition = compile(here);
    } else if (key == "then") {
      part.consequence = compile(here);
    } else if (key != "$defs" && key != "$id" && key != "$schema" && key != "title" &&
               key != "description") {
      throw std::invalid_argument("schema: unsupported keyword: " + here);
    }
  }

  static void add_kind(Part& part, const json& name) {
    for (const KindName& each : kKindNames) {
      if (name == each.in_schema) part.kinds |= each.kind;
    }
  }

  static void add_word(Part& part, const json& word) {
    part.has_words = true;
    if (word.is_null())
      part.null_is_word = true;
    else if (word.is_number_unsigned())
      part.number_word = word.get<std::uint64_t>();
    else
      part.words.push_back(word.get<std::string>());
  }

  static void require(Part& part, const std::string& name) {
    Part::Member& found = part.members[name];
    if (!found.required) ++part.required;
    found.required = true;
  }

  const json& root_;
  std::map<std::string, std::unique_ptr<Part>>& parts_;
};

namespace {

using Part = Schema::Part;

/// The place of a value below the one that is checked; converted to text only for a fault.
struct Place {
  const Place* above = nullptr;
  std::string_view key;
  std::size_t index = 0;
  bool is_item = false;

  std::string text() const {
    if (above == nullptr) return "";
    return above->text() + "/" + (is_item ? std::to_string(index) : pointer_part(key));
  }
};

struct Fault {
  std::string place, expected, found;
};

std::string range_of(const Part& part) {
  std::string text;
  if (part.least > -kInfinite) {
    text += (part.above_least ? " above " : " from ") + short_number(part.least);
  }
  if (part.most < kInfinite) {
    text += (part.below_most ? " below " : " to ") + short_number(part.most);
  }
  return text;
}

/// The expectation of a part itself, otherwise of the part that it refers to.
std::string expected_by(const Part& part) {
  if (part.is_never) return "nothing";
  if (part.has_words) {
    std::string text = "one of";
    for (const std::string& word : part.words) text.append(" ").append(word);
    if (part.number_word) text += " " + std::to_string(*part.number_word);
    if (part.null_is_word) text += " null";
    return text;
  }
  if (part.pattern != nullptr) return std::string(part.pattern->shown);
  if (part.kinds != kAnyKind) {
    std::string text;
    for (const KindName& each : kKindNames) {
      if ((part.kinds & each.kind) != 0) text.append(text.empty() ? "" : " or ").append(each.shown);
    }
    return text + range_of(part);
  }
  return part.all.empty() ? "another value" : expected_by(*part.all.front());
}

/// Checks a value. Stores the first fault in `fault` if it is not null.
class Checker {
 public:
  explicit Checker(Completeness completeness, Fault* fault)
      : completeness_(completeness), fault_(fault) {}

  bool fits(const Value& value, const Part& part, const Place& place) const {
    for (const Part* each : part.all) {
      if (!fits(value, *each, place)) return false;
    }
    if (!fits_itself(value, part)) return fail(place, expected_by(part), shown(value));
    if (value.is_object() && !members_fit(value, part, place)) return false;
    if (value.is_list() && !items_fit(value, part, place)) return false;
    if (!part.one.empty() && !fits_one(value, part, place)) return false;
    return part.condition == nullptr || !test().fits(value, *part.condition, place) ||
           fits(value, *part.consequence, place);
  }

 private:
  Checker test() const { return Checker(Completeness::whole, nullptr); }

  bool fail(const Place& place, std::string expected, std::string found) const {
    if (fault_ != nullptr) *fault_ = {place.text(), std::move(expected), std::move(found)};
    return false;
  }

  static bool fits_itself(const Value& value, const Part& part) {
    if (part.is_never || (kinds_of(value) & part.kinds) == 0) return false;
    if (part.has_words && !is_word(value, part)) return false;
    if (value.is_number()) return is_within(value.number(), part);
    if (value.is_text()) return part.pattern == nullptr || part.pattern->fits(value.text());
    return true;
  }

  static bool is_within(double number, const Part& part) {
    const bool enough = part.above_least ? number > part.least : number >= part.least;
    return enough && (part.below_most ? number < part.most : number <= part.most);
  }

  static bool is_word(const Value& value, const Part& part) {
    if (value.is_null()) return part.null_is_word;
    if (value.is_count()) return part.number_word == value.count();
    return value.is_text() && contains(part.words, value.text());
  }

  bool members_fit(const Value& value, const Part& part, const Place& place) const {
    const std::span<const Member> members = value.members();
    std::size_t required = 0;
    const auto is_valid = [&](const Member& member, const Part::Member& rule) {
      required += rule.required ? 1 : 0;
      return rule.part == nullptr || fits(member.value, *rule.part, {&place, member.key});
    };
    if (part.others == nullptr && part.keys == nullptr && part.members.size() < kFewMembers) {
      for (const auto& [key, rule] : part.members) {
        const auto found =
            std::find_if(members.begin(), members.end(),
                         [&key = key](const Member& member) { return member.key == key; });
        if (found != members.end() && !is_valid(*found, rule)) return false;
      }
    } else {
      for (const Member& member : members) {
        const Place here{&place, member.key};
        if (part.keys != nullptr && !test().fits(Value(member.key), *part.keys, here)) {
          return fail(here, "as a key " + expected_by(*part.keys), "another");
        }
        const auto rule = part.members.find(member.key);
        const bool is_named = rule != part.members.end();
        if (is_named && !is_valid(member, rule->second)) return false;
        // A required key without a rule counts as an additional key.
        const bool is_other = !is_named || rule->second.part == nullptr;
        if (is_other && part.others != nullptr && !fits(member.value, *part.others, here)) {
          return false;
        }
      }
    }
    return required == part.required || completeness_ == Completeness::partial ||
           fail_absent(value, part, place);
  }

  bool fail_absent(const Value& value, const Part& part, const Place& place) const {
    std::string_view absent;
    const Part* rule = nullptr;
    for (const auto& [key, member] : part.members) {
      if (!member.required || value.find(key) != nullptr) continue;
      if (!absent.empty() && absent < key) continue;  // so that the message is always the same
      absent = key;
      rule = member.part;
    }
    return fail({&place, absent}, rule == nullptr ? "a value" : expected_by(*rule), "nothing");
  }

  bool items_fit(const Value& value, const Part& part, const Place& place) const {
    const std::span<const Value> items = value.items();
    if (items.size() < part.least_items || items.size() > part.most_items) {
      const bool few = items.size() < part.least_items;
      return fail(place,
                  (few ? "a list of at least " + std::to_string(part.least_items)
                       : "a list of at most " + std::to_string(part.most_items)) +
                      " items",
                  "a list of " + std::to_string(items.size()));
    }
    if (part.items == nullptr) return true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!fits(items[i], *part.items, {&place, {}, i, true})) return false;
    }
    return true;
  }

  bool fits_one(const Value& value, const Part& part, const Place& place) const {
    const auto fitting = std::count_if(part.one.begin(), part.one.end(), [&](const Part* each) {
      return test().fits(value, *each, place);
    });
    if (fitting == 1) return true;
    for (const Part* each : part.one) {
      const bool is_of_kind = each->kinds != kAnyKind && (kinds_of(value) & each->kinds) != 0;
      if (fitting == 0 && is_of_kind) return fits(value, *each, place);
    }
    std::string expected = "exactly one of:";
    for (const Part* each : part.one) expected += " " + form_of(*each);
    return fail(place, std::move(expected), shown(value));
  }

  /// The description of one of several forms: its kind, or the key that it requires.
  static std::string form_of(const Part& part) {
    if (part.kinds != kAnyKind || part.members.empty()) return expected_by(part);
    return "a key " + part.members.begin()->first;
  }

  Completeness completeness_;
  Fault* fault_;
};

}  // namespace

Schema::Schema(std::string_view text) {
  const json root = json::parse(text);
  Compiler compiler(root, parts_);
  compiler.compile("");
  if (!root.contains("$defs")) return;
  for (const auto& [name, text_of_part] : root["$defs"].items()) compiler.compile("/$defs/" + name);
}

Schema::~Schema() = default;

const Schema::Part& Schema::part(const std::string& pointer) const {
  return *parts_.at(pointer);
}

void check(const Value& value, const Schema::Part& part, std::string_view place,
           Completeness completeness) {
  Fault fault;
  if (Checker(completeness, &fault).fits(value, part, Place())) return;
  throw UsageError(std::string(place) + fault.place + ": expected " + fault.expected + ", found " +
                   fault.found);
}

}  // namespace dlbench::results

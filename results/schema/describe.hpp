#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "results/schema/about.hpp"
#include "results/schema/field_io.hpp"

namespace dlbench::results {

/// The name and the sentence of a record that has its own definition in the schema.
struct Definition {
  const char* name;
  const char* sentence = "";
};
template <typename Record>
inline constexpr Definition kDefinition{nullptr};
template <>
inline constexpr Definition kDefinition<Warning>{"warning"};
template <>
inline constexpr Definition kDefinition<Evidence>{"evidence"};
template <>
inline constexpr Definition kDefinition<Observation>{"observed",
                                                     "Observations during the consumer's call."};
template <>
inline constexpr Definition kDefinition<GuardCounts>{
    "guard",
    "Pages of the producer's array without access during one exchange. Absent without a page "
    "guard. `read` and `written` are at most `pages`, `late` at most `read`."};
template <>
inline constexpr Definition kDefinition<DeviceTimer>{"device_timer",
                                                     "The timer of the clock `device`."};
template <>
inline constexpr Definition kDefinition<ApiCalls>{"api_calls"};
template <>
inline constexpr Definition kDefinition<Capture>{
    "capture", "One exchange while the consumer's stream captures a graph in the mode `global`."};
template <>
inline constexpr Definition kDefinition<Ordering>{
    "ordering",
    "The synchronization for one stream argument: a class in `waits`, or the reason why it has "
    "none. Times are wall-clock times in ns."};

/// Makes the JSON schema of a record. A field of operator() is required, one of known() is not.
class Describe {
 public:
  /// Adds the schema of the fields that `fill` declares to `definitions`, with all that they refer
  /// to.
  template <typename Fill>
  static void define(OrderedJson& definitions, const std::string& name, std::string_view sentence,
                     const Fill& fill) {
    if (definitions.contains(name)) return;
    OrderedJson made;
    Describe inner(made, definitions);
    fill(inner);
    if (!sentence.empty()) made["description"] = sentence;
    definitions[name] = std::move(made);
  }

  /// A whole schema: `head`, the fields that `fill` declares, and the definitions.
  template <typename Fill>
  static OrderedJson document(OrderedJson head, OrderedJson definitions, const Fill& fill) {
    Describe inner(head, definitions);
    fill(inner);
    head["$defs"] = std::move(definitions);
    return head;
  }

  template <typename T>
  void operator()(std::string_view key, T&& value, const About& about) {
    add(key, schema(value, about.rule), about, true);
  }

  template <typename T>
  void known(std::string_view key, T&& value, const About& about) {
    if constexpr (IsOptional<std::remove_cvref_t<T>>::value)
      add(key, schema(value.emplace(), about.rule), about, false);
    else
      add(key, schema(value, about.rule), about, false);
  }

  void constant(std::string_view key, std::string_view value, const About& about) {
    add(key, {{"const", value}}, about, true);
  }
  void constant(std::string_view key, int, const About& about) {
    add(key, of_rule(kCount, "integer"), about, true);
  }

  template <typename Make>
  void computed(std::string_view key, const Make&, const About& about) {
    add(key, of_rule(about.rule, "string"), about, true);
  }

  void choice(std::string_view key, bool, std::string_view yes, std::string_view no,
              const About& about) {
    add(key, {{"enum", {yes, no}}}, about, true);
  }

  void stream(std::string_view key, const std::string&, const About& about) {
    add(key, {{"type", {"null", "integer", "string"}}}, about, true);
  }

  void absent(std::string_view key) { item_["properties"][std::string(key)] = false; }

  template <typename Rows>
  void only(const Rows&) {
    item_["additionalProperties"] = false;
  }

  template <typename Fill>
  void group(std::string_view key, bool, Fill fill) {
    group_ = key;
    fill(false);
    group_ = {};
  }

  template <typename Fill>
  void common(const char* name, Fill fill, const char* sentence = "") {
    // Several calls add to the same definition.
    OrderedJson made = definitions_.value(name, OrderedJson());
    Describe inner(made, definitions_);
    fill(inner);
    if (*sentence != '\0') made["description"] = sentence;
    definitions_[name] = std::move(made);
    item_["$ref"] = reference(name)["$ref"];
  }

  template <typename Fill>
  void object(std::string_view key, Fill fill, const About& about) {
    OrderedJson made;
    Describe inner(made, definitions_);
    fill(inner);
    add(key, std::move(made), about, true);
  }

  template <typename T>
  void member(std::string_view key, std::map<std::string, T>&, const About& about) {
    T value{};
    (*this)(key, value, about);
  }

  template <typename T>
  void known_member(std::string_view key, std::map<std::string, T>&, const About& about) {
    T value{};
    known(key, value, about);
  }

  template <typename T, typename Fill>
  void members(std::string_view key, std::map<std::string, T>&,
               std::span<const std::string_view> names, Fill fill, const About& about) {
    const std::string name(about.rule.name);
    T value{};
    define(definitions_, name, "", [&](Describe& io) { fill(io, value); });
    add(key,
        {{"type", "object"},
         {"propertyNames", {{"enum", std::vector<std::string>(names.begin(), names.end())}}},
         {"additionalProperties", reference(name)}},
        about, false);
  }

 private:
  Describe(OrderedJson& item, OrderedJson& definitions) : item_(item), definitions_(definitions) {
    item_["type"] = "object";
  }

  void add(std::string_view key, OrderedJson made, const About& about, bool is_required) {
    const std::string name(key);
    if (item_.contains("properties") && item_["properties"].contains(name)) return;
    if (!about.rule.absent.empty()) made["default"] = OrderedJson::parse(about.rule.absent);
    if (!about.sentence.empty()) made["description"] = about.sentence;
    item_["properties"][name] = std::move(made);
    if (group_.empty()) {
      if (is_required) item_["required"].push_back(name);
    } else if (name != group_) {
      OrderedJson& together = item_["dependentRequired"];
      together[name].push_back(group_);
      if (is_required) together[std::string(group_)].push_back(name);
    }
  }

  static OrderedJson reference(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

  static OrderedJson list_of(OrderedJson made, const Rule& rule) {
    if (rule.least_items > 0) made["minItems"] = rule.least_items;
    if (rule.most_items < kAny.most_items) made["maxItems"] = rule.most_items;
    return made;
  }

  OrderedJson of_rule(const Rule& rule, const char* type) {
    OrderedJson made;
    if (!rule.words.empty()) {
      for (std::string_view rest = rule.words; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        made["enum"].push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    } else {
      made["type"] = type;
    }
    const auto number = [type](double value) -> OrderedJson {
      if (std::string_view(type) == "integer") return static_cast<std::int64_t>(value);
      return value;
    };
    if (rule.least && rule.least == rule.most) {
      made = {{"const", number(*rule.least)}};
    } else {
      if (rule.least) made[rule.is_open ? "exclusiveMinimum" : "minimum"] = number(*rule.least);
      if (rule.most) made[rule.is_open ? "exclusiveMaximum" : "maximum"] = number(*rule.most);
    }
    if (rule.pattern != nullptr) made["pattern"] = rule.pattern->expression;
    if (rule.name.empty()) return made;
    const std::string name(rule.name);
    if (!rule.sentence.empty()) made["description"] = rule.sentence;
    definitions_[name] = std::move(made);
    return reference(name);
  }

  template <typename T>
  OrderedJson schema(T& value, const Rule& rule) {
    if constexpr (HasFields<Describe, T>) {
      constexpr Definition kNamed = kDefinition<T>;
      const auto fill = [&value](Describe& io) { fields(io, value); };
      if constexpr (kNamed.name == nullptr) {
        OrderedJson made;
        Describe inner(made, definitions_);
        fill(inner);
        return made;
      } else {
        define(definitions_, kNamed.name, kNamed.sentence, fill);
        return reference(kNamed.name);
      }
    } else if constexpr (IsOptional<T>::value) {
      typename T::value_type inner{};
      OrderedJson made = schema(inner, rule);
      if (made.contains("enum"))
        made["enum"].push_back(nullptr);
      else
        made["type"] = {made["type"], "null"};
      return made;
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
      definitions_["texts"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
      return list_of(reference("texts"), rule);
    } else if constexpr (IsVector<T>::value) {
      typename T::value_type inner{};
      return list_of({{"type", "array"}, {"items", schema(inner, rule)}}, rule);
    } else if constexpr (IsMap<T>::value) {
      typename T::mapped_type inner{};
      OrderedJson made{{"type", "object"}};
      if (rule.pattern != nullptr) {
        made["propertyNames"] = {{"pattern", rule.pattern->expression}};
      }
      made["additionalProperties"] = schema(inner, rule);
      return made;
    } else if constexpr (std::same_as<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::same_as<T, double>) {
      return of_rule(rule, "number");
    } else if constexpr (std::integral<T>) {
      return of_rule(rule.most ? rule : kCount, "integer");
    } else {
      return of_rule(rule, "string");
    }
  }

  OrderedJson& item_;
  OrderedJson& definitions_;
  std::string_view group_{};  ///< the key of the group whose fields are described
};

}  // namespace dlbench::results

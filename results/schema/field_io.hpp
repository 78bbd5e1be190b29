#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/error.hpp"
#include "model/ordering.hpp"
#include "model/outcome.hpp"
#include "results/fields.hpp"
#include "results/records.hpp"
#include "results/schema/about.hpp"

/// A record declares its fields once, in a function fields(io, record): `Put` writes them, `Get`
/// reads and checks them, and `Describe` makes their JSON schema. A field that another program
/// writes, and that C++ only checks, is declared with a temporary value.
namespace dlbench::results {

/// `Of`, or const `Of` if it is written.
template <typename Record, typename Of>
concept Is = std::same_as<std::remove_const_t<Record>, Of>;

template <typename Io, typename Record>
concept HasFields = requires(Io& io, Record& record) {
  fields(io, record);
};

template <typename Number>
requires std::integral<Number> || std::floating_point<Number>
bool is_empty(Number number) {
  return number == 0;
}
template <typename T>
bool is_empty(const std::optional<T>& value) {
  return !value;
}
inline bool is_empty(const Observation& observed) {
  return observed.used.empty() && observed.calls.empty();
}
template <typename Container>
auto is_empty(const Container& container) -> decltype(container.empty()) {
  return container.empty();
}

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

class Put {
 public:
  explicit Put(OrderedJson& item) : item_(item) {}

  /// An empty optional is written as null.
  template <typename T>
  void operator()(std::string_view key, const T& value, const About& = "") {
    put(item_[std::string(key)], value);
  }

  /// Leaves out an empty value.
  template <typename T>
  void known(std::string_view key, const T& value, const About& = "") {
    if (!is_empty(value)) (*this)(key, value);
  }

  /// A value that is the same for every record.
  template <typename T>
  void constant(std::string_view key, const T& value, const About&) {
    (*this)(key, value);
  }

  /// A text that `make` computes from other fields.
  template <typename Make>
  void computed(std::string_view key, Make make, const About&) {
    (*this)(key, make());
  }

  /// One of two words.
  void choice(std::string_view key, bool value, std::string_view yes, std::string_view no,
              const About&) {
    (*this)(key, value ? yes : no);
  }

  /// A stream argument: as a number if it is one, null if it is empty.
  void stream(std::string_view key, const std::string& stream, const About&) {
    OrderedJson& item = item_[std::string(key)];
    std::int64_t number = 0;
    const char* const end = stream.data() + stream.size();
    const auto [last, error] = std::from_chars(stream.data(), end, number);
    if (stream.empty())
      item = nullptr;
    else if (error == std::errc() && last == end)
      item = number;
    else
      item = stream;
  }

  /// Must be absent.
  void absent(std::string_view) {}

  /// The object has no other keys than these.
  template <typename Rows>
  void only(const Rows&) {}

  /// Fields that are all present or all absent; one of them is `key`. `fill` receives whether they
  /// are present. `is_there` is used for writing.
  template <typename Fill>
  void group(std::string_view, bool is_there, Fill fill) {
    if (is_there) fill(true);
  }

  /// Fields that several records have, with a definition of their own in the schema.
  template <typename Fill>
  void common(const char*, Fill fill, const char* = "") {
    fill(*this);
  }

  /// Some of the record's fields as an object.
  template <typename Fill>
  void object(std::string_view key, Fill fill, const About&) {
    Put inner(item_[std::string(key)]);
    fill(inner);
  }

  /// A member of a map as a field. Left out if the map does not have it.
  template <typename T>
  void member(std::string_view key, const std::map<std::string, T>& map, const About&) {
    const auto found = map.find(std::string(key));
    if (found != map.end()) (*this)(key, found->second);
  }
  template <typename T>
  void known_member(std::string_view key, const std::map<std::string, T>& map, const About& about) {
    member(key, map, about);
  }

  /// The members of a map with these names, in their order, whose fields `fill` declares; left out
  /// if the map is empty.
  template <typename T, typename Fill>
  void members(std::string_view key, const std::map<std::string, T>& map,
               std::span<const std::string_view> names, const Fill&, const About& about) {
    if (map.empty()) return;
    Put inner(item_[std::string(key)]);
    for (const std::string_view name : names) inner.member(name, map, about);
  }

 private:
  template <typename T>
  static void put(OrderedJson& item, const T& value) {
    if constexpr (HasFields<Put, const T>) {
      item = OrderedJson::object();
      Put inner(item);
      fields(inner, value);
    } else if constexpr (std::is_enum_v<T>) {
      item = to_string(value);
    } else if constexpr (IsOptional<T>::value) {
      if (value)
        put(item, *value);
      else
        item = nullptr;
    } else if constexpr (IsVector<T>::value) {
      item = OrderedJson::array();
      for (const auto& each : value) put(item.emplace_back(), each);
    } else if constexpr (IsMap<T>::value) {
      item = OrderedJson::object();
      for (const auto& [key, each] : value) put(item[key], each);
    } else {
      item = value;
    }
  }

  OrderedJson& item_;
};

inline void from_word(std::string_view word, Outcome& outcome) {
  outcome = outcome_from(word);
}
inline void from_word(std::string_view word, Proof& proof) {
  proof = proof_from(word);
}
inline void from_word(std::string_view word, Captured& result) {
  result = captured_from(word);
}
inline void from_word(std::string_view word, Waits& waits) {
  waits = waits_from(word);
}

/// `partial`: keys that a record requires may be absent.
enum class Completeness { whole, partial };

/// Throws UsageError "PLACE/key: expected ..., found ..." at the first fault.
class Get {
 public:
  explicit Get(const Fields& item, Completeness completeness = Completeness::whole)
      : item_(item), completeness_(completeness) {}

  // Inline, so that little of a declaration is made on the stack.
  template <typename T>
  [[gnu::always_inline]] void operator()(std::string_view key, T&& value, const About& about = "") {
    if (const Value* const found = find(key))
      get({key}, *found, value, about.rule);
    else if (completeness_ == Completeness::whole && without_.empty())
      item_.fail(key, expected<std::remove_cvref_t<T>>(about.rule));
  }

  template <typename T>
  [[gnu::always_inline]] void known(std::string_view key, T&& value, const About& about = "") {
    if (const Value* const found = find(key)) {
      if constexpr (IsOptional<std::remove_cvref_t<T>>::value)
        get({key}, *found, value.emplace(), about.rule);
      else
        get({key}, *found, value, about.rule);
    }
  }

  void constant(std::string_view key, std::string_view value, const About&) {
    (*this)(key, std::string_view(), {words(value)});
  }
  void constant(std::string_view key, int, const About&) { (*this)(key, std::uint64_t()); }

  template <typename Make>
  void computed(std::string_view key, const Make&, const About& about) {
    (*this)(key, std::string_view(), about);
  }

  void choice(std::string_view key, bool& value, std::string_view yes, std::string_view no,
              const About&) {
    std::string_view word;
    const std::string both = std::string(yes).append(" ").append(no);
    (*this)(key, word, {words(both)});
    value = word == yes;
  }

  void stream(std::string_view key, std::string& stream, const About&) {
    const Value* const found = item_.find(key);
    constexpr const char* kExpected = "null, an integer or a word";
    if (found == nullptr) item_.fail(key, kExpected);
    if (found->is_null()) return;
    const double number = found->is_integer() ? found->number() : -2;
    const bool is_word = found->is_text() && !found->text().empty();
    require(is_word || (number >= -1 && number < 1e15), {key}, *found, kExpected);
    stream =
        is_word ? std::string(found->text()) : std::to_string(static_cast<std::int64_t>(number));
  }

  void absent(std::string_view key) {
    if (item_.has(key)) item_.fail(key, "nothing");
  }

  template <typename Rows>
  void only(const Rows& rows) {
    for (const Member& member : item_.value().members()) {
      const auto is_it = [&](const auto& row) { return row.name == member.key; };
      if (std::none_of(rows.begin(), rows.end(), is_it)) item_.fail(member.key, "nothing");
    }
  }

  template <typename Fill>
  void group(std::string_view key, bool, Fill fill) {
    const std::string_view before = without_;
    const bool is_there = item_.has(key);
    if (!is_there) without_ = key;
    fill(is_there);
    without_ = before;
  }

  template <typename Fill>
  void common(const char*, Fill fill, const char* = "") {
    fill(*this);
  }

  template <typename Fill>
  void object(std::string_view key, Fill fill, const About&) {
    const Value* const found = find(key);
    if (found == nullptr && !without_.empty()) return;
    const Fields object = item_.object(key);
    Get inner(object, completeness_);
    fill(inner);
  }

  template <typename T>
  void member(std::string_view key, std::map<std::string, T>& map, const About& about) {
    (*this)(key, map[std::string(key)], about);
  }
  template <typename T>
  void known_member(std::string_view key, std::map<std::string, T>& map, const About& about) {
    if (item_.has(key)) member(key, map, about);
  }

  template <typename T, typename Fill>
  void members(std::string_view key, std::map<std::string, T>& map,
               std::span<const std::string_view> names, Fill fill, const About&) {
    const Value* const found = find(key);
    if (found == nullptr) return;
    const Fields object(*found, item_.place(key));
    for (const auto& [name, value] : found->members()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        std::string all = "one of";
        for (const std::string_view each : names) all.append(" ").append(each);
        fail_name(object, name, all);
      }
      const Fields inner_item(value, object.place(name));
      Get inner(inner_item, completeness_);
      fill(inner, map[std::string(name)]);
    }
  }

 private:
  /// A field, or an item of a field that is a list.
  struct Where {
    std::string_view key;
    std::optional<std::size_t> index{};
  };

  /// The value of the key, or null. Within a group that is absent, there must be none.
  const Value* find(std::string_view key) const {
    const Value* const found = item_.find(key);
    if (found != nullptr && !without_.empty()) {
      item_.fail(key, "no such key without `" + std::string(without_) + "`");
    }
    return found;
  }

  std::string place(const Where& where) const {
    return item_.place(where.key) + (where.index ? "/" + std::to_string(*where.index) : "");
  }

  void require(bool is_so, const Where& where, const Value& found,
               std::string_view expected_value) const {
    if (!is_so) fail(where, found, std::string(expected_value));
  }

  [[noreturn]] void fail(const Where& where, const Value& found,
                         const std::string& expected_value) const {
    throw UsageError(place(where) + ": expected " + expected_value + ", found " + shown(found));
  }

  [[noreturn]] static void fail_name(const Fields& object, std::string_view name,
                                     std::string_view expected_name) {
    throw UsageError(object.place(name) + ": expected as a key " + std::string(expected_name) +
                     ", found another");
  }

  template <typename T>
  static std::string expected(const Rule& rule) {
    if constexpr (HasFields<Get, T> || IsMap<T>::value)
      return "an object";
    else if constexpr (IsVector<T>::value)
      return "a list";
    else if constexpr (IsOptional<T>::value)
      return expected<typename T::value_type>(rule) + " or null";
    else if constexpr (std::same_as<T, bool>)
      return "true or false";
    else if constexpr (std::same_as<T, double>)
      return rule.expected("a number");
    else if constexpr (std::integral<T>)
      return (rule.most ? rule : kCount).expected("an integer");
    else
      return rule.expected("a text");
  }

  template <typename T>
  void get(const Where& where, const Value& found, T& value, const Rule& rule) {
    const auto require_it = [&](bool is_so) {
      if (!is_so) fail(where, found, expected<T>(rule));
    };
    if constexpr (HasFields<Get, T>) {
      const Fields object(found, place(where));
      Get inner(object, completeness_);
      fields(inner, value);
    } else if constexpr (IsOptional<T>::value) {
      if (!found.is_null()) get(where, found, value.emplace(), rule);
    } else if constexpr (IsVector<T>::value) {
      require_it(found.is_list());
      const std::size_t size = found.items().size();
      const bool is_short = size < rule.least_items;
      if (is_short || size > rule.most_items) {
        fail(where, found,
             (is_short ? "a list of at least " + std::to_string(rule.least_items)
                       : "a list of at most " + std::to_string(rule.most_items)) +
                 " items");
      }
      value.reserve(size);
      for (const Value& each : found.items()) {
        const Where here{where.key, value.size()};
        get(here, each, value.emplace_back(), rule);
      }
    } else if constexpr (IsMap<T>::value) {
      require_it(found.is_object());
      const Fields object(found, place(where));
      Get inner(object, completeness_);
      for (const auto& [key, each] : found.members()) {
        if (rule.pattern != nullptr && !rule.pattern->fits(key)) {
          fail_name(object, key, rule.pattern->shown);
        }
        inner.get({key}, each, value[std::string(key)], rule);
      }
    } else if constexpr (std::same_as<T, bool>) {
      require_it(found.is_flag());
      value = found.flag();
    } else if constexpr (std::same_as<T, double>) {
      require_it(found.is_number() && rule.admits(found.number()));
      value = found.number();
    } else if constexpr (std::integral<T>) {
      require_it(found.is_count() && (rule.most ? rule : kCount).admits(found.number()));
      constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      require(found.count() <= kMost, where, found, "a smaller count");
      value = static_cast<T>(found.count());
    } else {
      require_it(found.is_text() && rule.admits(found.text()));
      if constexpr (std::is_enum_v<T>)
        from_word(found.text(), value);
      else
        value = found.text();
    }
  }

  const Fields& item_;
  Completeness completeness_;
  std::string_view without_{};  ///< the key of an absent group whose fields are read
};

}  // namespace dlbench::results

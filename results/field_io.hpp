#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/error.hpp"
#include "model/ordering.hpp"
#include "model/outcome.hpp"
#include "results/fields.hpp"
#include "results/records.hpp"

/// A record lists its fields once, in a function fields(io, record): `Put` writes them, `Get` reads
/// them. The schema restricts the values of fields and is checked before reading.
namespace dlbench::results {

/// `Of`, or const `Of` if it is written.
template <typename Record, typename Of>
concept Is = std::same_as<std::remove_const_t<Record>, Of>;

template <typename Io, typename Record>
concept HasFields = requires(Io& io, Record& record) {
  fields(io, record);
};

inline bool is_empty(bool flag) {
  return !flag;
}
inline bool is_empty(double number) {
  return number == 0;
}
template <typename T>
bool is_empty(const std::optional<T>& value) {
  return !value;
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

  template <typename T>
  void operator()(std::string_view key, const T& value) {
    put(item_[std::string(key)], value);
  }

  /// Leaves out an empty value.
  template <typename T>
  void known(std::string_view key, const T& value) {
    if (!is_empty(value)) (*this)(key, value);
  }

  /// A value that is the same for every record.
  template <typename T>
  void constant(std::string_view key, const T& value) {
    (*this)(key, value);
  }

  /// One of two words.
  void choice(std::string_view key, bool value, std::string_view yes, std::string_view no) {
    (*this)(key, value ? yes : no);
  }

  /// A stream argument: as a number if it is one, null if it is empty.
  void stream(std::string_view key, const std::string& stream) {
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

  /// Fields that are all present or all absent; one of them is `key`. `is_there` is used for
  /// writing.
  template <typename Fill>
  void group(std::string_view, bool is_there, Fill fill) {
    if (is_there) fill();
  }

  /// Some of the record's fields as an object.
  template <typename Fill>
  void object(std::string_view key, Fill fill) {
    Put inner(item_[std::string(key)]);
    fill(inner);
  }

  /// A member of a map as a field, if the map has the key.
  template <typename T>
  void member(std::string_view key, const std::map<std::string, T>& map) {
    const auto found = map.find(std::string(key));
    if (found != map.end()) (*this)(key, found->second);
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
      put(item, *value);
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

/// Throws UsageError naming the place of a missing value or a value of another kind.
class Get {
 public:
  explicit Get(const Fields& item) : item_(item) {}

  template <typename T>
  void operator()(std::string_view key, T& value) {
    get({key}, item_.at(key), value);
  }

  template <typename T>
  void known(std::string_view key, T& value) {
    if (const Value* const found = item_.find(key)) get({key}, *found, value);
  }

  template <typename T>
  void constant(std::string_view, const T&) {}

  void choice(std::string_view key, bool& value, std::string_view yes, std::string_view) {
    value = item_.text(key) == yes;
  }

  void stream(std::string_view key, std::string& stream) {
    const Value& found = item_.at(key);
    if (found.is_null()) return;
    const double number = found.is_number() ? found.number() : 0;
    const bool is_stream = number >= -1 && number < 1e15 && std::trunc(number) == number;
    require(found.is_number() ? is_stream : found.is_text() && !found.text().empty(), {key}, found,
            "null, a number or a word");
    stream = found.is_text() ? std::string(found.text())
                             : std::to_string(static_cast<std::int64_t>(number));
  }

  template <typename Fill>
  void group(std::string_view key, bool, Fill fill) {
    if (item_.has(key)) fill();
  }

  template <typename Fill>
  void object(std::string_view key, Fill fill) {
    const Fields object = item_.object(key);
    Get inner(object);
    fill(inner);
  }

  template <typename T>
  void member(std::string_view key, std::map<std::string, T>& map) {
    if (const Value* const found = item_.find(key)) get({key}, *found, map[std::string(key)]);
  }

 private:
  /// A field, or an item of a field that is a list.
  struct Where {
    std::string_view key;
    std::optional<std::size_t> index{};
  };

  std::string place(const Where& where) const {
    return item_.place(where.key) + (where.index ? "/" + std::to_string(*where.index) : "");
  }

  void require(bool is_so, const Where& where, const Value& found, const char* expected) const {
    if (is_so) return;
    throw UsageError(place(where) + ": expected " + expected + ", found " + shown(found));
  }

  template <typename T>
  void get(const Where& where, const Value& found, T& value) {
    if constexpr (HasFields<Get, T>) {
      const Fields object(found, place(where));
      Get inner(object);
      fields(inner, value);
    } else if constexpr (IsOptional<T>::value) {
      get(where, found, value.emplace());
    } else if constexpr (IsVector<T>::value) {
      require(found.is_list(), where, found, "a list");
      value.reserve(found.items().size());
      for (const Value& each : found.items()) {
        const Where here{where.key, value.size()};
        get(here, each, value.emplace_back());
      }
    } else if constexpr (IsMap<T>::value) {
      require(found.is_object(), where, found, "an object");
      for (const auto& [key, each] : found.members()) get(where, each, value[std::string(key)]);
    } else if constexpr (std::same_as<T, bool>) {
      require(found.is_flag(), where, found, "true or false");
      value = found.flag();
    } else if constexpr (std::same_as<T, double>) {
      require(found.is_number(), where, found, "a number");
      value = found.number();
    } else if constexpr (std::integral<T>) {
      constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      require(found.is_count() && found.count() <= kMost, where, found, "a smaller count");
      value = static_cast<T>(found.count());
    } else {
      require(found.is_text(), where, found, "a text");
      if constexpr (std::is_enum_v<T>)
        from_word(found.text(), value);
      else
        value = found.text();
    }
  }

  const Fields& item_;
};

}  // namespace dlbench::results

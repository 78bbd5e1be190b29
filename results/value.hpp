#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::results {

struct Member;

/// A parsed JSON value. It is small, because a document has millions of them. It refers to the text
/// and to the memory of the parser (strict_json.hpp), which must outlive it.
class Value {
 public:
  Value() = default;
  explicit Value(bool flag) : kind_(Kind::flag), flag_(flag) {}
  explicit Value(double number) : kind_(Kind::real), real_(number) {}
  explicit Value(std::uint64_t number) : kind_(Kind::count), count_(number) {}
  explicit Value(std::int64_t number) : kind_(Kind::integer), integer_(number) {}
  explicit Value(std::string_view text)
      : kind_(Kind::text), size_(text.size()), text_(text.data()) {}
  explicit Value(std::span<const Value> items)
      : kind_(Kind::list), size_(items.size()), items_(items.data()) {}
  explicit Value(std::span<const Member> members);

  bool is_null() const { return kind_ == Kind::nothing; }
  bool is_flag() const { return kind_ == Kind::flag; }
  bool is_count() const { return kind_ == Kind::count; }  ///< written without sign or point
  bool is_integer() const { return kind_ == Kind::count || kind_ == Kind::integer; }
  bool is_number() const { return kind_ >= Kind::count && kind_ <= Kind::real; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_object() const { return kind_ == Kind::object; }

  // Call them only for values of that kind.
  bool flag() const { return flag_; }
  std::uint64_t count() const { return count_; }
  double number() const;
  std::string_view text() const { return {text_, size_}; }
  std::span<const Value> items() const { return {items_, size_}; }
  std::span<const Member> members() const;

  /// The value of a member, or null.
  const Value* find(std::string_view key) const;

  /// An independent copy.
  nlohmann::json json() const;

 private:
  enum class Kind : unsigned char { nothing, flag, count, integer, real, text, list, object };

  Kind kind_ = Kind::nothing;
  std::size_t size_ = 0;
  union {
    bool flag_;
    std::uint64_t count_ = 0;
    std::int64_t integer_;
    double real_;
    const char* text_;
    const Value* items_;
    const Member* members_;
  };
};

struct Member {
  std::string_view key;
  Value value;
};

inline Value::Value(std::span<const Member> members)
    : kind_(Kind::object), size_(members.size()), members_(members.data()) {}

inline std::span<const Member> Value::members() const {
  return {members_, size_};
}

/// The value as a short text on one line, for messages.
std::string shown(const Value& value);
std::string shown(const nlohmann::json& value);

}  // namespace dlbench::results

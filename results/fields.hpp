#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "results/value.hpp"

namespace dlbench::results {

/// A JSON object and its place. The readers throw UsageError "PLACE/key: expected ..., found ...".
/// The value must outlive this object.
class Fields {
 public:
  /// `place` is a file and a JSON pointer. Throws unless `value` is an object.
  Fields(const Value& value, std::string place);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Null if the key is absent.
  const Value* find(std::string_view key) const;
  const Value& at(std::string_view key) const;
  Fields object(std::string_view key) const;
  std::span<const Value> list(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;
  std::uint64_t count(std::string_view key) const;

  const Value& value() const { return *value_; }
  const std::string& place() const { return place_; }
  std::string place(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;

 private:
  const Value* value_;
  mutable std::size_t next_ = 0;  ///< fields are mostly read in the order of the text
  std::string place_;
};

/// The key as a part of a JSON pointer, with "~" and "/" escaped, on one line.
std::string pointer_part(std::string_view key);

}  // namespace dlbench::results

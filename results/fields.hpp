#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/value.hpp"

namespace dlbench::results {

// What a number of a document may be, as schema.json has it: no sum, product or ratio of such
// numbers leaves a double's range, and every reader of JSON holds such integers exactly.
inline constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 53) - 1;
inline constexpr double kMostNumber = 1e18;
inline constexpr double kLeastPositive = 1e-18;

/// One JSON object with the place it stands at. Every reader throws UsageError "PLACE/key:
/// expected ..., found ...". Refers to what was read, which must outlive it.
class Fields {
 public:
  /// `place` is a file and a JSON pointer. Throws unless `value` is an object.
  Fields(const Value& value, std::string place);

  bool has(std::string_view key) const;
  Fields object(std::string_view key) const;
  std::span<const Value> list(std::string_view key) const;
  std::span<const Member> members() const { return value_->members(); }
  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string_view otherwise) const;
  bool flag(std::string_view key) const;
  std::uint64_t count(std::string_view key) const;   ///< an integer from 0 to kMostCount
  double number(std::string_view key) const;         ///< from 0 to kMostNumber
  double signed_number(std::string_view key) const;  ///< the same below 0 too
  double positive(std::string_view key) const;       ///< from kLeastPositive to kMostNumber
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;  ///< as signed_number() each
  std::vector<double> positives(std::string_view key) const;

  /// Throws unless the text is one of `allowed`.
  std::string one_of(std::string_view key, std::span<const std::string_view> allowed) const;

  const Value& value() const { return *value_; }
  const std::string& place() const { return place_; }
  std::string place(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;

 private:
  const Value& at(std::string_view key, std::string_view expected) const;

  const Value* look_up(std::string_view key) const;

  const Value* value_;
  mutable std::size_t next_ = 0;  ///< readers ask in about the order of the text
  std::string place_;
};

/// The key of a JSON pointer, "~" and "/" escaped, on one line whatever the key is.
std::string pointer_part(std::string_view key);

}  // namespace dlbench::results

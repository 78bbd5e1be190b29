#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include "results/value.hpp"

namespace dlbench::results {

/// A parsed JSON text and the memory that its values refer to.
class Parsed {
 public:
  const Value& value() const { return value_; }

 private:
  friend class Parsing;

  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
  Value value_;
};

/// Parses one JSON text. Throws UsageError "FILE: POINTER: ..." if it is malformed or truncated, is
/// not UTF-8, has an object with a duplicate key, or is nested deeper than `most_depth`.
Parsed parse_strict(std::string_view text, const std::string& file, std::size_t most_depth = 64);

/// Receives an item of a list: the list's key, the item's index, and the item, which is freed
/// afterwards.
using OnItem = std::function<void(std::string_view key, std::size_t index, const Value& item)>;

/// Reads a JSON file without holding all of it in memory: the items of `lists` in the outermost
/// object are passed to `on_item`, which may throw, and these lists are empty in the result. Throws
/// as parse_strict(), and if the file cannot be read, is empty, or is larger than `most_bytes`.
Parsed read_strict(const std::filesystem::path& path, std::uintmax_t most_bytes,
                   std::span<const std::string_view> lists, const OnItem& on_item,
                   std::size_t most_depth = 64);

}  // namespace dlbench::results

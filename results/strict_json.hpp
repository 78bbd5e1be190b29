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

/// A JSON text that was read, and the memory that its values refer to.
class Parsed {
 public:
  const Value& value() const { return value_; }

 private:
  friend class Parsing;

  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
  Value value_;
};

/// Reads one JSON text. Throws UsageError "FILE: POINTER: ..." where it is broken or ends early, is
/// not UTF-8, an object names a key twice, or it nests deeper than `most_depth`.
Parsed parse_strict(std::string_view text, const std::string& file, std::size_t most_depth = 64);

/// Takes an item of a list: the list's key, the item's index, the item, which is freed afterwards.
using OnItem = std::function<void(std::string_view key, std::size_t index, const Value& item)>;

/// Reads a file of JSON without holding it in memory as a whole: the items of `lists` in the
/// outermost object are passed to `on_item`, which may throw, and the lists are empty in what is
/// returned. Throws as parse_strict(), and where the file cannot be read, is empty or is larger
/// than `most_bytes`.
Parsed read_strict(const std::filesystem::path& path, std::uintmax_t most_bytes,
                   std::span<const std::string_view> lists, const OnItem& on_item,
                   std::size_t most_depth = 64);

}  // namespace dlbench::results

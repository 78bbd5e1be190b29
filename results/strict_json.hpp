#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include "results/blocks.hpp"
#include "results/value.hpp"

namespace dlbench::results {

/// A JSON text that was read, and the memory that its values refer to.
class Parsed {
 public:
  const Value& value() const { return value_; }

 private:
  friend class Parsing;

  std::unique_ptr<std::string> text_;  ///< unescaped in place; none where it was read by blocks
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
  Value value_;
};

/// Reads one JSON text. Throws UsageError "FILE: POINTER: ..." where it is broken or ends early, is
/// not UTF-8, an object names a key twice, or it nests deeper than `most_depth`.
Parsed parse_strict(std::string text, const std::string& file, std::size_t most_depth = 64);

/// Takes an item of a list: the list's key, the item's index, the item, which is forgotten then.
using OnItem = std::function<void(std::string_view key, std::size_t index, const Value& item)>;

/// The same of a text in blocks; the items of these lists of the outermost object are handed on as
/// soon as they are whole, and the lists are empty in what is returned. `on_item` may throw.
Parsed parse_strict(Blocks& blocks, const std::string& file,
                    std::span<const std::string_view> lists, const OnItem& on_item,
                    std::size_t most_depth = 64);

}  // namespace dlbench::results

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::results {

/// Parses one JSON text. Throws UsageError "FILE: POINTER: ..." where it is broken or ends early,
/// an object names a key twice, or it nests deeper than `most_depth`.
nlohmann::json parse_strict(std::string_view text, const std::string& file,
                            std::size_t most_depth = 64);

/// Takes an item of a list: the list's key, the item's index, the item.
using OnItem = std::function<void(std::string_view key, std::size_t index, nlohmann::json item)>;

/// The same, but the items of these lists of the outermost object are handed on as soon as they are
/// whole, and stand as null in what is returned. `on_item` may throw.
nlohmann::json parse_strict(std::string_view text, const std::string& file,
                            std::span<const std::string_view> lists, const OnItem& on_item,
                            std::size_t most_depth = 64);

}  // namespace dlbench::results

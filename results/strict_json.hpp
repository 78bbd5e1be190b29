#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dlbench::results {

/// Parses one JSON text. Throws UsageError "FILE: POINTER: ..." where it is broken or ends early,
/// an object names a key twice, or it nests deeper than `most_depth`.
nlohmann::json parse_strict(std::string_view text, const std::string& file,
                            std::size_t most_depth = 64);

}  // namespace dlbench::results

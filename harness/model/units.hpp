#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dlbench {

/// "4096", "4KiB", "1MiB", "2GiB", "64kB" -> bytes. Throws UsageError naming the allowed forms.
std::uint64_t parse_bytes(std::string_view text);

/// "250ms", "90s", "2m", "1h" -> seconds, above zero and at most 24 h. The unit is required.
double parse_seconds(std::string_view text);

/// "2%" -> 0.02, above zero and below 100 %. The percent sign is required.
double parse_percent(std::string_view text);

/// 112.3 -> "112 ns", 1730 -> "1.73 us", "16.6 ms", "2.05 s": three digits.
std::string format_duration(double ns);

/// 4096 -> "4 KiB", 1000 -> "1000 B".
std::string format_bytes(std::uint64_t bytes);

}  // namespace dlbench

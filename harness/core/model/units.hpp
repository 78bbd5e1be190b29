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

/// A number with three digits, or two where the half-width of its interval is one of the second
/// digit or more: 1.48, 130; below 1 with two decimals. The page's text.js has the same rule. With
/// one half-width the text never decreases when the value increases: a median that lies inside its
/// interval is printed inside it.
std::string format_number(double value, double half_width = 0);

/// 0.031 -> "3.1 %", 0.26 -> "26 %": at least two digits, none finer than 0.1 %. "over 1000 %".
inline constexpr double kMostPercent = 1000;
std::string format_share(double share);

/// format_number() in the largest unit that fits: "112 ns", "1.73 us", "16.6 ms", "2.05 s".
std::string format_duration(double ns, double half_width = 0);

/// 4096 -> "4 KiB", 1000 -> "1000 B".
std::string format_bytes(std::uint64_t bytes);

}  // namespace dlbench

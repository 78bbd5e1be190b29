#include "model/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "model/error.hpp"

namespace dlbench {
namespace {

struct Quantity {
  double number;
  std::string_view unit;
};

[[noreturn]] void misfit(std::string_view what, std::string_view text, std::string_view allowed) {
  throw UsageError("'" + std::string(text) + "' is not a " + std::string(what) +
                   "; allowed: " + std::string(allowed));
}

Quantity split(std::string_view what, std::string_view text, std::string_view allowed) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number <= 0) misfit(what, text, allowed);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return {number, unit};
}

template <std::size_t N>
double scaled(std::string_view what, std::string_view text, std::string_view allowed,
              const std::array<std::pair<std::string_view, double>, N>& units) {
  const Quantity quantity = split(what, text, allowed);
  for (const auto& [unit, factor] : units) {
    if (quantity.unit != unit) continue;
    const double value = quantity.number * factor;
    // The factor must not turn the number into infinity or zero.
    if (std::isfinite(value) && value > 0) return value;
  }
  misfit(what, text, allowed);
}

/// The unit of the last digit that is printed: the third digit, or the second where the half-width
/// is one of the second digit or more. 0.01 below 1.
double last_digit(double value, double half_width) {
  double first = 1;  // the unit of the first digit
  while (value >= 10 * first && first < 1e15) first *= 10;
  return value >= 1 && half_width >= first / 10 ? first / 10 : first / 100;
}

/// It never decreases when the value increases, so a median stays inside its interval.
double round_to_step(double value, double step) {
  return std::floor(value / step + 0.5) * step;
}

/// `rounded` has the sign of `value` and the decimals of `step`.
std::string with_decimals(double value, double rounded, double step) {
  const int decimals = step < 0.05 ? 2 : step < 0.5 ? 1 : 0;
  std::array<char, 350> text{};
  std::snprintf(text.data(), text.size(), "%s%.*f", value < 0 && rounded > 0 ? "-" : "", decimals,
                rounded);
  return text.data();
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  constexpr std::string_view kAllowed = "a positive number of bytes, such as 4096, 4KiB or 2GiB";
  constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{{{"", 1},
                                                                       {"B", 1},
                                                                       {"kB", 1e3},
                                                                       {"MB", 1e6},
                                                                       {"GB", 1e9},
                                                                       {"KiB", 1024.0},
                                                                       {"MiB", 1048576.0},
                                                                       {"GiB", 1073741824.0},
                                                                       {"TiB", 1099511627776.0}}};
  const double bytes = scaled("size", text, kAllowed, kUnits);
  // Above 2^53 a double cannot represent every byte count.
  if (bytes != std::floor(bytes) || bytes > 9007199254740992.0) misfit("size", text, kAllowed);
  return static_cast<std::uint64_t>(bytes);
}

double parse_seconds(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}}};
  constexpr std::string_view kAllowed = "a positive number with ms, s, m or h, as 90s, at most 24h";
  const double seconds = scaled("duration", text, kAllowed, kUnits);
  // Timeouts are milliseconds in 32 bits, and some are ten times this long.
  if (seconds > 24 * 3600) misfit("duration", text, kAllowed);
  return seconds;
}

double parse_percent(std::string_view text) {
  constexpr std::string_view kAllowed = "a percentage above 0 and below 100, as 2%";
  constexpr std::array<std::pair<std::string_view, double>, 1> kUnits{{{"%", 0.01}}};
  const double fraction = scaled("percentage", text, kAllowed, kUnits);
  if (fraction >= 1) misfit("percentage", text, kAllowed);
  return fraction;
}

std::string format_number(double value, double half_width) {
  const double rounded = round_to_step(std::abs(value), last_digit(std::abs(value), half_width));
  return with_decimals(value, rounded, last_digit(rounded, half_width));
}

std::string format_share(double share) {
  const double percent = std::abs(share) * 100;
  if (percent > kMostPercent) return "over " + with_decimals(share, kMostPercent, 1) + " %";
  const double rounded = round_to_step(percent, percent < 10 ? 0.1 : 1);
  return with_decimals(share, rounded, rounded < 10 ? 0.1 : 1) + " %";
}

std::string format_duration(double ns, double half_width) {
  constexpr std::array<const char*, 4> kUnits{" ns", " us", " ms", " s"};
  std::size_t unit = 0;
  // A number that rounds to 1000 is printed as 1 of the next unit.
  const auto rounded = [&half_width](double value) {
    return round_to_step(value, last_digit(value, half_width));
  };
  while (unit + 1 < kUnits.size() && rounded(std::abs(ns)) >= 1000) {
    ns = std::copysign(std::max(std::abs(ns), 1000.0) / 1000, ns);
    half_width /= 1000;
    ++unit;
  }
  return format_number(ns, half_width) + kUnits[unit];
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + std::string(kUnits[unit]);
}

}  // namespace dlbench

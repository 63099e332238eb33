#include "text/numbers.hpp"

#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>

namespace tally::cli {
namespace {

[[noreturn]] void refuse_number(std::string_view text, std::string_view why_and_fix) {
  throw std::invalid_argument(fmt::format("'{}' {}", text, why_and_fix));
}

struct NumberText {
  std::string_view number;
  std::string_view suffix;
};

// The longest number at the start, and the rest.
NumberText split_number(std::string_view text, double& value, std::string_view what) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) refuse_number(text, fmt::format("is not {}", what));
  if (error == std::errc::result_out_of_range) refuse_number(text, "is out of range");
  if (!std::isfinite(value)) refuse_number(text, fmt::format("is not a finite number; give {}", what));
  const auto length = static_cast<std::size_t>(end - text.data());
  return {text.substr(0, length), text.substr(length)};
}

// 1000^i or 1024^i for "K", "Mi", ...; 1 for no suffix; 0 for anything else.
std::uint64_t unit_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  constexpr std::string_view letters = "KMGTP";
  const auto power = letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(suffix[0]))));
  if (power == std::string_view::npos) return 0;
  const bool binary = suffix.size() == 2 && (suffix[1] == 'i' || suffix[1] == 'I');
  if (suffix.size() != (binary ? 2U : 1U)) return 0;
  std::uint64_t unit = 1;
  for (std::size_t i = 0; i <= power; ++i) unit *= binary ? 1024 : 1000;
  return unit;
}

std::uint64_t parse_whole(std::string_view text, std::string_view what, CountRange range, bool bytes) {
  double value = 0;
  auto [number, suffix] = split_number(text, value, what);
  if (value < 0) refuse_number(text, fmt::format("is negative; give {}", what));
  if (bytes && !suffix.empty() && (suffix.back() == 'B' || suffix.back() == 'b')) suffix.remove_suffix(1);
  const std::uint64_t unit = unit_of(suffix);
  if (unit == 0) refuse_number(text, fmt::format("has an unknown unit; give {}", what));

  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
  const bool is_digits = end == number.data() + number.size();
  bool overflow = is_digits && error == std::errc::result_out_of_range;
  if (is_digits && !overflow) {
    overflow = __builtin_mul_overflow(whole, unit, &whole);
  } else if (!overflow) {
    const double scaled = value * static_cast<double>(unit);
    if (unit == 1 && scaled != std::floor(scaled))
      refuse_number(text, fmt::format("is not a whole number; give {}", what));
    overflow = !(scaled < 0x1p64);
    if (!overflow) whole = static_cast<std::uint64_t>(std::round(scaled));
  }
  if (overflow) refuse_number(text, "is too large; the maximum is 2^64 - 1");
  if (whole < range.least) refuse_number(text, fmt::format("is too small; must be at least {}", range.least));
  if (whole > range.most) refuse_number(text, fmt::format("is too large; must be at most {}", range.most));
  return whole;
}

}  // namespace

std::uint64_t parse_count(std::string_view text, CountRange range) {
  return parse_whole(text, "a number such as 5000, 10M or 1e6", range, false);
}

std::uint64_t parse_size(std::string_view text, std::uint64_t least) {
  return parse_whole(text, "a size such as 64MiB, 1.5GB or 65536", CountRange{.least = least}, true);
}

double parse_rate(std::string_view text) {
  constexpr std::string_view what = "a rate above 0 and below 1, such as 1%, 0.01 or 1e-3";
  double value = 0;
  const auto [number, suffix] = split_number(text, value, what);
  if (suffix == "%") {
    value /= 100;
  } else if (!suffix.empty()) {
    refuse_number(text, fmt::format("is not {}", what));
  }
  if (!(value > 0 && value < 1)) refuse_number(text, fmt::format("is out of range; give {}", what));
  return value;
}

double parse_real(std::string_view text, RealRange range) {
  double value = 0;
  const auto [number, suffix] = split_number(text, value, "a number such as 0.5, 2 or 1e-3");
  if (!suffix.empty()) refuse_number(text, "is not a number such as 0.5, 2 or 1e-3");
  if (!(value >= range.least))
    refuse_number(text, fmt::format("is too small; must be at least {}", range.least));
  if (!(value <= range.most))
    refuse_number(text, fmt::format("is too large; must be at most {}", range.most));
  return value;
}

}  // namespace tally::cli

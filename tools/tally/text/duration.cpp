#include "text/duration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tally::cli {
namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};

// The largest first.
constexpr std::array<Unit, 6> units{
    {{"d", 86400e9}, {"h", 3600e9}, {"m", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}}};
constexpr double most_nanoseconds = 36525 * 86400e9;

}  // namespace

Nanoseconds parse_duration(std::string_view text) {
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument(
        fmt::format("'{}' {}; give a time such as 10m, 90s, 1.5h, 1h30m, 500ms or 7d", text, why));
  };
  double nanoseconds = 0;
  std::string_view left = text;
  std::size_t next_unit = 0;
  do {
    double value = 0;
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), value);
    if (error != std::errc() || !std::isfinite(value)) refuse("is not a time");
    left.remove_prefix(static_cast<std::size_t>(end - left.data()));
    const std::string_view name = left.substr(0, std::min(left.find_first_of("0123456789.+-"), left.size()));
    left.remove_prefix(name.size());
    const bool is_alone = name.empty() && next_unit == 0;
    const auto* const unit = std::ranges::find(units, is_alone ? "s" : name, &Unit::name);
    if (unit == units.end()) refuse("has an unknown unit");
    const auto number = static_cast<std::size_t>(unit - units.begin());
    if (number < next_unit) refuse("does not go from larger to smaller units");
    if (next_unit > 0 && !(value >= 0)) refuse("is not a time");
    next_unit = number + 1;
    nanoseconds += value * unit->nanoseconds;
  } while (!left.empty());
  if (!(nanoseconds >= 1e3)) refuse("is too short (the minimum is a microsecond)");
  if (!(nanoseconds <= most_nanoseconds)) refuse("is too long (the maximum is 100 years)");
  return static_cast<Nanoseconds>(std::llround(nanoseconds));
}

std::string duration_text(Nanoseconds duration) {
  const auto nanoseconds = static_cast<double>(duration);
  for (const Unit& unit : units) {
    if (nanoseconds >= unit.nanoseconds)
      return fmt::format("{:.6g}{}", nanoseconds / unit.nanoseconds, unit.name);
  }
  return fmt::format("{}ns", duration);
}

}  // namespace tally::cli

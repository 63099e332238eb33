#include "text/duration.hpp"

#include <fmt/core.h>

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
        fmt::format("'{}' {}; give a time such as 10m, 90s, 1.5h, 500ms or 7d", text, why));
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) refuse("is not a time");
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  double nanoseconds = suffix.empty() ? value * 1e9 : 0;
  bool is_known = suffix.empty();
  for (const Unit& unit : units) {
    if (unit.name != suffix) continue;
    nanoseconds = value * unit.nanoseconds;
    is_known = true;
  }
  if (!is_known) refuse("has an unknown unit");
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

#include "option_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "refusal.hpp"

namespace tally::redis {
namespace {

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

[[noreturn]] void refuse(const OptionValue& value, const std::string& reason) {
  throw Refusal("ERR --" + std::string(value.option) + ": '" + std::string(value.text.substr(0, 100)) + "' " +
                reason);
}

struct Number {
  double value;
  std::string_view digits;
  std::string_view unit;
};

Number split(const OptionValue& value, const std::string& example) {
  Number number{};
  const char* const first = value.text.data();
  const auto [end, error] = std::from_chars(first, first + value.text.size(), number.value);
  if (error == std::errc::invalid_argument || !std::isfinite(number.value))
    refuse(value, "is not a " + example);
  if (error != std::errc{}) refuse(value, "is out of range; give a " + example);
  if (number.value < 0) refuse(value, "is negative; give a " + example);
  number.digits = value.text.substr(0, static_cast<std::size_t>(end - first));
  number.unit = value.text.substr(number.digits.size());
  return number;
}

/// 1000^i or 1024^i for k, mi, ...; 1 for no unit; 0 for anything else.
std::uint64_t factor_of(std::string_view unit) {
  if (unit.empty()) return 1;
  const std::size_t power = std::string_view("kmgtp").find(small(unit[0]));
  const bool is_binary = unit.size() == 2 && small(unit[1]) == 'i';
  if (power == std::string_view::npos || (unit.size() != 1 && !is_binary)) return 0;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= is_binary ? 1024 : 1000;
  return factor;
}

std::uint64_t whole(const OptionValue& value, const Number& number, const std::string& example) {
  const std::uint64_t factor = factor_of(number.unit);
  if (factor == 0) refuse(value, "has an unknown unit; give a " + example);
  std::uint64_t result = 0;
  const char* const end = number.digits.data() + number.digits.size();
  const auto [at, error] = std::from_chars(number.digits.data(), end, result);
  if (at == end && error == std::errc{} && !__builtin_mul_overflow(result, factor, &result)) return result;
  const double scaled = number.value * static_cast<double>(factor);
  if (!(scaled < 0x1p64) || error != std::errc{}) refuse(value, "is too large; must be below 2^64");
  if (factor == 1 && scaled != std::floor(scaled)) refuse(value, "is not a whole number; give a " + example);
  return static_cast<std::uint64_t>(std::round(scaled));
}

/// With or without "%".
double part_of_one(const OptionValue& value, const std::string& example) {
  const Number number = split(value, example);
  if (!number.unit.empty() && number.unit != "%") refuse(value, "is not a " + example);
  return number.unit.empty() ? number.value : number.value / 100;
}

constexpr std::array<std::pair<std::string_view, double>, 7> durations{
    {{"", 1e9}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}}};
constexpr double most_nanoseconds = 36525 * 86400e9;

}  // namespace

bool is_same_word(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, small, small);
}

std::uint64_t OptionValue::count(std::uint64_t least, std::uint64_t most) const {
  const std::string example = "number such as 5000, 10M or 1e6";
  const std::uint64_t number = whole(*this, split(*this, example), example);
  if (number < least) refuse(*this, "is too small; must be at least " + std::to_string(least));
  if (number > most) refuse(*this, "is too large; must be at most " + std::to_string(most));
  return number;
}

std::uint64_t OptionValue::size() const {
  const std::string example = "size such as 64MiB, 1.5GB or 65536";
  Number number = split(*this, example);
  if (!number.unit.empty() && small(number.unit.back()) == 'b') number.unit.remove_suffix(1);
  return whole(*this, number, example);
}

double OptionValue::rate() const {
  const std::string example = "rate above 0 and below 1, such as 1%, 0.01 or 1e-3";
  const double rate = part_of_one(*this, example);
  if (!(rate > 0 && rate < 1)) refuse(*this, "is out of range; give a " + example);
  return rate;
}

double OptionValue::share() const {
  const std::string example = "share from 0 to 1, such as 15%, 0.15 or 0";
  const double share = part_of_one(*this, example);
  if (!(share >= 0 && share <= 1)) refuse(*this, "is out of range; give a " + example);
  return share;
}

std::int64_t OptionValue::duration() const {
  const std::string example = "duration such as 10m, 1.5h, 90s or 500ms";
  const Number number = split(*this, example);
  for (const auto& [unit, nanoseconds] : durations) {
    if (!is_same_word(number.unit, unit)) continue;
    const double scaled = std::round(number.value * nanoseconds);
    if (scaled < 1e3) refuse(*this, "is too short; must be at least 1us");
    if (!(scaled <= most_nanoseconds)) refuse(*this, "is too long; must be at most 100 years");
    return static_cast<std::int64_t>(scaled);
  }
  refuse(*this, "has an unknown unit; give a " + example);
}

std::size_t OptionValue::choice(std::span<const std::string_view> words) const {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_same_word(text, words[i])) return i;
    list.append(i == 0 ? "" : ", ").append(words[i]);
  }
  refuse(*this, "is not one of: " + list);
}

}  // namespace tally::redis

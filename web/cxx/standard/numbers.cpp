// The parts of <charconv> that emscripten's C++ library lacks.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace {

/// A number as digits, with the exponent of the first one.
struct Digits {
  std::string digits;
  int exponent = 0;
};

Digits digits_of(double value) {
  if (value == 0) return {"0", 0};
  const auto decimal = fmt::detail::dragonbox::to_decimal(value);
  std::string digits = std::to_string(decimal.significand);
  const int exponent = decimal.exponent + static_cast<int>(digits.size()) - 1;
  digits.erase(digits.find_last_not_of('0') + 1);
  return {digits, exponent};
}

std::string fixed_text(Digits number) {
  std::string& digits = number.digits;
  if (number.exponent < 0)
    return "0." + std::string(static_cast<std::size_t>(-number.exponent) - 1, '0') + digits;
  const auto whole = static_cast<std::size_t>(number.exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0');
  return digits.insert(whole, ".");
}

std::string scientific_text(const Digits& number) {
  std::string text = number.digits.substr(0, 1);
  if (number.digits.size() > 1) text += "." + number.digits.substr(1);
  text += number.exponent < 0 ? "e-" : "e+";
  const std::string exponent = std::to_string(std::abs(number.exponent));
  return text + (exponent.size() == 1 ? "0" : "") + exponent;
}

std::to_chars_result written(char* first, char* last, std::string_view sign, std::string_view text) {
  if (last - first < static_cast<std::ptrdiff_t>(sign.size() + text.size()))
    return {last, std::errc::value_too_large};
  std::memcpy(first, sign.data(), sign.size());
  std::memcpy(first + sign.size(), text.data(), text.size());
  return {first + sign.size() + text.size(), std::errc()};
}

}  // namespace

namespace std {

to_chars_result to_chars(char* first, char* last, double value, chars_format format) {
  const string_view sign = std::signbit(value) ? "-" : "";
  if (std::isnan(value)) return written(first, last, sign, "nan");
  if (std::isinf(value)) return written(first, last, sign, "inf");
  const Digits digits = digits_of(std::fabs(value));
  if (format == chars_format::fixed) return written(first, last, sign, fixed_text(digits));
  const std::string scientific = scientific_text(digits);
  if (format == chars_format::scientific) return written(first, last, sign, scientific);
  const std::string fixed = std::abs(digits.exponent) > 30 ? std::string() : fixed_text(digits);
  return written(first, last, sign, !fixed.empty() && fixed.size() <= scientific.size() ? fixed : scientific);
}

to_chars_result to_chars(char* first, char* last, double value) {
  return std::to_chars(first, last, value, chars_format::general);
}

from_chars_result from_chars(const char* first, const char* last, double& value) {
  // strtod would also take blanks, a plus and hexadecimal digits.
  std::string text(first, std::find_if(first, last, [](char c) { return c == 'x' || c == 'X'; }));
  if (text.empty() || std::strchr("-.0123456789iInN", text[0]) == nullptr)
    return {first, errc::invalid_argument};
  char* end = nullptr;
  errno = 0;
  const double found = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* const after = first + (end - text.c_str());
  if (errno == ERANGE) return {after, errc::result_out_of_range};
  value = found;
  return {after, errc()};
}

}  // namespace std

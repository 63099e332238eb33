#include "theory/detail.hpp"

#include <array>
#include <charconv>
#include <stdexcept>

namespace tally::theory::detail {

std::string text_of(double value) {
  std::array<char, 32> digits;  // -2.2250738585072014e-308 has 24
  const std::to_chars_result end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

void refuse(std::string_view function, std::string_view parameter, std::string_view value,
            std::string_view rule) {
  std::string message;
  message.append(function).append(": ").append(parameter).append(" is ").append(value);
  message.append("; must be ").append(rule);
  throw std::invalid_argument(message);
}

}  // namespace tally::theory::detail

#include "tally/detail/parameter_error.hpp"

#include <array>
#include <charconv>
#include <stdexcept>

namespace tally::detail {

std::string text_of(double value) {
  std::array<char, 32> digits;  // -2.2250738585072014e-308 has 24
  const std::to_chars_result end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

void throw_parameter_error(std::string_view where, std::string_view parameter, std::string_view value,
                           std::string_view rule) {
  std::string message;
  message.append(where).append(": ").append(parameter).append(" is ").append(value);
  message.append("; must be ").append(rule);
  throw std::invalid_argument(message);
}

void throw_not_one_per_key(std::string_view function, std::string_view what, std::size_t num_keys,
                           std::size_t num_given) {
  throw_parameter_error(function, "number of " + std::string(what), text_of(num_given),
                        text_of(num_keys) + ", one per key");
}

void throw_difference(std::string_view where, std::string_view field, std::string_view mine,
                      std::string_view theirs) {
  std::string message(where);
  message.append(": cannot merge: ").append(field).append(" is ").append(mine).append(" here and ");
  message.append(theirs).append(" there; make both with the same");
  throw std::invalid_argument(message);
}

}  // namespace tally::detail

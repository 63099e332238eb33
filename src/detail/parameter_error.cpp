#include "tally/detail/parameter_error.hpp"

#include <array>
#include <charconv>
#include <stdexcept>

#include "detail/text_of.hpp"

namespace tally::detail {

std::string text_of(const ShownValue& value) {
  switch (value.type) {
    case ShownValue::Type::natural:
      return std::to_string(value.natural);
    case ShownValue::Type::integer:
      return std::to_string(value.integer);
    case ShownValue::Type::text:
      return std::string(value.text);
    case ShownValue::Type::real:
      break;
  }
  std::array<char, 32> digits;  // -2.2250738585072014e-308 has 24
  const std::to_chars_result end = std::to_chars(digits.data(), digits.data() + digits.size(), value.real);
  return {digits.data(), end.ptr};
}

void throw_parameter_error(std::string_view where, std::string_view parameter, ShownValue value,
                           std::string_view rule) {
  std::string message;
  message.append(where).append(": ").append(parameter).append(" is ").append(text_of(value));
  message.append("; must be ").append(rule);
  throw std::invalid_argument(message);
}

void throw_out_of_range(std::string_view where, std::string_view parameter, ShownValue value, ShownValue low,
                        ShownValue high) {
  throw_parameter_error(where, parameter, value, text_of(low) + " to " + text_of(high));
}

void throw_not_one_per_key(std::string_view function, std::string_view what, std::size_t num_keys,
                           std::size_t num_given) {
  throw_parameter_error(function, "number of " + std::string(what), num_given,
                        text_of(num_keys) + ", one per key");
}

void throw_difference(std::string_view where, std::string_view field, ShownValue mine, ShownValue theirs) {
  std::string message(where);
  message.append(": cannot merge: ").append(field).append(" is ").append(text_of(mine));
  message.append(" here and ").append(text_of(theirs)).append(" there; make both with the same");
  throw std::invalid_argument(message);
}

}  // namespace tally::detail

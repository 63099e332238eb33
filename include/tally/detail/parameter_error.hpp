#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace tally::detail {

template <class Value>
std::string text_of(const Value& value) {
  std::ostringstream out;
  if constexpr (std::is_arithmetic_v<Value>) {
    out.precision(std::is_floating_point_v<Value> ? 17 : 6);
    out << +value;
  } else {
    out << value;
  }
  return out.str();
}

/// Throws std::invalid_argument with one sentence shape for the whole library:
/// "BloomFilter: num_hashes is 1025; must be 1 to 1024".
[[noreturn]] inline void throw_parameter_error(std::string_view where, std::string_view parameter,
                                               std::string_view value, std::string_view rule) {
  std::string message;
  message.append(where).append(": ").append(parameter).append(" is ").append(value);
  message.append("; must be ").append(rule);
  throw std::invalid_argument(message);
}

/// Refuses anything but low <= value <= high; a NaN is refused too.
template <class Value>
void require_in_range(std::string_view where, std::string_view parameter, Value value,
                      std::type_identity_t<Value> low, std::type_identity_t<Value> high) {
  if (value >= low && value <= high) return;
  throw_parameter_error(where, parameter, text_of(value), text_of(low) + " to " + text_of(high));
}

/// Refuses anything but 0 < value < 1; a NaN is refused too.
inline void require_probability(std::string_view where, std::string_view parameter, double value) {
  if (value > 0.0 && value < 1.0) return;
  throw_parameter_error(where, parameter, text_of(value), "above 0 and below 1");
}

/// Refuses to combine two structures that differ in a field, and names the field.
template <class Value>
void require_same(std::string_view where, std::string_view field, const Value& mine, const Value& theirs) {
  if (mine == theirs) return;
  std::string message(where);
  message.append(": cannot merge: ").append(field).append(" is ").append(text_of(mine)).append(" here and ");
  message.append(text_of(theirs)).append(" there; make both with the same");
  throw std::invalid_argument(message);
}

}  // namespace tally::detail

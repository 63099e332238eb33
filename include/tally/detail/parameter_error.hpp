#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace tally::detail {

/// A value as an error message shows it. Of a double, the fewest digits that read back as the same number.
std::string text_of(double value);
inline std::string text_of(std::integral auto value) { return std::to_string(value); }
inline std::string text_of(std::string_view value) { return std::string(value); }

/// Throws std::invalid_argument with one sentence shape for the whole library:
/// "BloomFilter: num_hashes is 1025; must be 1 to 1024".
[[noreturn]] void throw_parameter_error(std::string_view where, std::string_view parameter,
                                        std::string_view value, std::string_view rule);

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

[[noreturn]] void throw_not_one_per_key(std::string_view function, std::string_view what,
                                        std::size_t num_keys, std::size_t num_given);

/// Refuses a batch whose results, or weights, are not as many as its keys.
inline void require_one_per_key(std::string_view function, std::string_view what, std::size_t num_keys,
                                std::size_t num_given) {
  if (num_keys != num_given) [[unlikely]]
    throw_not_one_per_key(function, what, num_keys, num_given);
}

/// Throws std::invalid_argument: two structures that differ in a field cannot be merged.
[[noreturn]] void throw_difference(std::string_view where, std::string_view field, std::string_view mine,
                                   std::string_view theirs);

/// Refuses to combine two structures that differ in a field, and names the field.
template <class Value>
void require_same(std::string_view where, std::string_view field, const Value& mine, const Value& theirs) {
  if (mine == theirs) return;
  throw_difference(where, field, text_of(mine), text_of(theirs));
}

}  // namespace tally::detail

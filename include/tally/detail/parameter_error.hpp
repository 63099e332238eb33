#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tally/export.hpp"

namespace tally::detail {

/// A value that an error message shows: an integer, a double or a text. Text is made of it in a source file, so that
/// public headers need not read <string>.
struct ShownValue {
  enum class Type : std::uint8_t { natural, integer, real, text };

  ShownValue(std::unsigned_integral auto value) : type(Type::natural), natural(value) {}
  ShownValue(std::signed_integral auto value) : type(Type::integer), integer(value) {}
  ShownValue(double value) : type(Type::real), real(value) {}
  ShownValue(const std::convertible_to<std::string_view> auto& value) : type(Type::text), text(value) {}

  Type type;
  std::uint64_t natural = 0;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
};

/// Throws std::invalid_argument with one sentence shape for the whole library:
/// "BloomFilter: num_hashes is 1025; must be 1 to 1024".
[[noreturn]] TALLY_EXPORT void throw_parameter_error(std::string_view where, std::string_view parameter,
                                                     ShownValue value, std::string_view rule);

/// The same; the rule is "low to high".
[[noreturn]] TALLY_EXPORT void throw_out_of_range(std::string_view where, std::string_view parameter,
                                                  ShownValue value, ShownValue low, ShownValue high);

/// Refuses anything but low <= value <= high; a NaN is refused too.
template <class Value>
void require_in_range(std::string_view where, std::string_view parameter, Value value,
                      std::type_identity_t<Value> low, std::type_identity_t<Value> high) {
  if (value >= low && value <= high) return;
  throw_out_of_range(where, parameter, value, low, high);
}

/// Refuses anything but 0 < value < 1; a NaN is refused too.
inline void require_probability(std::string_view where, std::string_view parameter, double value) {
  if (value > 0.0 && value < 1.0) return;
  throw_parameter_error(where, parameter, value, "above 0 and below 1");
}

[[noreturn]] TALLY_EXPORT void throw_not_one_per_key(std::string_view function, std::string_view what,
                                                     std::size_t num_keys, std::size_t num_given);

/// Refuses a batch whose results, or weights, are not as many as its keys.
inline void require_one_per_key(std::string_view function, std::string_view what, std::size_t num_keys,
                                std::size_t num_given) {
  if (num_keys != num_given) [[unlikely]]
    throw_not_one_per_key(function, what, num_keys, num_given);
}

/// Throws std::invalid_argument: two structures that differ in a field cannot be merged.
[[noreturn]] TALLY_EXPORT void throw_difference(std::string_view where, std::string_view field,
                                                ShownValue mine, ShownValue theirs);

/// Refuses to combine two structures that differ in a field, and names the field.
template <class Value>
void require_same(std::string_view where, std::string_view field, const Value& mine, const Value& theirs) {
  if (mine == theirs) return;
  throw_difference(where, field, mine, theirs);
}

}  // namespace tally::detail

#pragma once

#include <cstdint>
#include <string_view>

#include "tally/export.hpp"

namespace tally::detail {

[[noreturn]] TALLY_EXPORT void throw_product_too_large(std::uint64_t a, std::uint64_t b,
                                                       std::string_view what);

/// a * b; throws std::invalid_argument naming `what` if the product does not fit in 64 bits.
inline std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_product_too_large(a, b, what);
  return product;
}

/// a + b, or the largest 64-bit value if the sum does not fit.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t sum = a + b;
  return sum < a ? ~std::uint64_t{0} : sum;
}

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept { return a / b + (a % b != 0); }

/// The smallest multiple of `unit` that is at least `value`; checked like checked_mul.
inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit, std::string_view what) {
  return checked_mul(ceil_div(value, unit), unit, what);
}

}  // namespace tally::detail

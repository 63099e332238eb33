#pragma once

#include <concepts>
#include <cstdint>

namespace tally {

/// How much an occurrence of a key counts: an unsigned integer, or a constant that is not negative. A signed variable does
/// not compile, because a negative one would count as almost 2^64: check its sign and convert it to std::uint64_t.
class Weight {
 public:
  template <std::unsigned_integral Integer>
  requires(!std::same_as<Integer, bool>) constexpr Weight(Integer value) noexcept : value_(value) {}

  template <std::signed_integral Integer>
  consteval Weight(Integer value) : value_(static_cast<std::uint64_t>(value)) {
    if (value < 0) throw "a weight is negative";
  }

  constexpr operator std::uint64_t() const noexcept { return value_; }

 private:
  std::uint64_t value_;
};

}  // namespace tally

#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace tally::detail {

/// An array whose elements have no values at first, for arrays on the stack that are mostly written before they are read. The
/// elements of a std::array would all be set first, as their default constructor does.
template <class Value, std::size_t num_values>
class UnsetArray {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);

 public:
  UnsetArray() noexcept {}

  Value& operator[](std::size_t i) noexcept { return values_[i]; }
  const Value& operator[](std::size_t i) const noexcept { return values_[i]; }
  std::span<Value> first(std::size_t count) noexcept { return std::span(values_).first(count); }
  std::span<const Value> subspan(std::size_t begin, std::size_t count) const noexcept {
    return std::span(values_).subspan(begin, count);
  }

 private:
  union {
    std::array<Value, num_values> values_;
  };
};

}  // namespace tally::detail

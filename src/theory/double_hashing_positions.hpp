#pragma once

// Only for src/theory/: the positions of the schemes in theory/double_hashing.hpp.

#include <cstdint>

#include "tally/theory/double_hashing.hpp"

namespace tally::theory::detail {

/// Position i of a key minus h1, before it is taken modulo m.
inline std::uint64_t double_hashing_offset(DoubleHashing scheme, std::uint64_t i, std::uint64_t h2,
                                           std::uint64_t h3) {
  std::uint64_t value = i * h2;
  if (scheme == DoubleHashing::quadratic) value += i * i;
  if (scheme == DoubleHashing::cubic) value += i * i * i;
  if (scheme == DoubleHashing::triple && i > 0) value += i * (i - 1) / 2 * h3;
  return value;
}

}  // namespace tally::theory::detail

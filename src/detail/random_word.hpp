#pragma once

#include <cstdint>
#include <random>

namespace tally::detail {

inline std::uint64_t random_word(std::random_device& device) {
  const std::uint64_t high = device();
  return high << 32 | device();
}

}  // namespace tally::detail

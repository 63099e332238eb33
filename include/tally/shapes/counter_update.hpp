#pragma once

#include <cstdint>
#include <string_view>

#include "tally/export.hpp"

namespace tally {

/// How an insertion raises a key's counters.
enum class CounterUpdate : std::uint8_t {
  plain = 0,  ///< every counter by one, as in the papers; filters of two streams can be added
  conservative =
      1  ///< only the counters equal to the key's minimum: counts are never above plain, often far below
};

TALLY_EXPORT std::string_view name_of(CounterUpdate update) noexcept;

}  // namespace tally

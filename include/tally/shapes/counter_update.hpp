#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

/// How an insertion raises a key's counters.
enum class CounterUpdate : std::uint8_t {
  plain = 0,        ///< every counter by one: the counters of the papers; two streams' filters add up
  conservative = 1  ///< only those at the key's least value: never above plain, often far below
};

std::string_view name_of(CounterUpdate update) noexcept;

}  // namespace tally

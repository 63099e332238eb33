#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "call.hpp"
#include "top_k_value.hpp"

namespace tally::redis {

inline constexpr const char* missing_list = "TopK: key does not exist";
inline constexpr long long greatest_increment = 100'000;

/// Throws Refusal if the items, at every `step`-th argument from `first` on, make the list larger than the limits of the call
/// allow. Returns their bytes in all.
std::uint64_t require_room_in_list(const Call& call, const TopKValue& value, std::size_t first,
                                   std::size_t step);

}  // namespace tally::redis

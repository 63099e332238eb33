#pragma once

#include <cstdint>
#include <functional>

#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// The rate from which a filter is hardly one.
inline constexpr double rate_worth_a_warning = 0.5;
/// What the warning compares with.
inline constexpr double usual_rate = 0.01;

/// The false positive rate of a filter with so many distinct keys in it; 0 for kinds that refuse keys rather than let
/// the rate grow (dleft, count-min).
double rate_with(const FilterShape& shape, std::uint64_t num_keys);

/// Warns, also those who want quiet, where that many keys make `rate` so high; `bytes_for_usual_rate` is called then.
void warn_of_little_memory(std::uint64_t memory_bytes, std::uint64_t num_keys, double rate,
                           const std::function<std::uint64_t()>& bytes_for_usual_rate);

}  // namespace tally::cli

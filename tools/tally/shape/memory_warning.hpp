#pragma once

#include <cstdint>
#include <functional>

#include "shape/options.hpp"
#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// A false positive rate above which a filter is almost useless.
inline constexpr double rate_worth_a_warning = 0.5;
/// The rate with which the warning compares.
inline constexpr double usual_rate = 0.01;

/// If the plan is for keys and memory, prints a warning, even with --quiet, if the rate with all keys is above
/// `rate_worth_a_warning`. There is no warning for dleft, which becomes full instead, and for count-min.
void warn_of_little_memory(const ShapeOptions& options, const FilterShape& planned);

/// The same for a known `rate`. Calls `bytes_for_usual_rate` only for the warning.
void warn_of_little_memory(std::uint64_t memory_bytes, std::uint64_t num_keys, double rate,
                           const std::function<std::uint64_t()>& bytes_for_usual_rate);

}  // namespace tally::cli

#pragma once

// Only for src/planner/: the laws of counters, for keys that were inserted before or that repeat.

#include <cstdint>

#include "planner/search.hpp"

namespace tally::planner_detail {

/// Counts above this are not told apart (compound_poisson.hpp).
inline constexpr std::uint64_t max_histogram_count = 10'000;

/// The largest gap up to `gap` for which the histogram is detailed enough. The rate for a smaller gap bounds that for a
/// larger one.
std::uint64_t told_gap(const theory::CountHistogram& histogram, std::uint64_t gap);

/// The law of a key that was inserted theta - 1 times, theta above 1, from that of absent keys. Each of its counters is raised
/// by another key, but for those that two of its positions share: these reach theta by themselves.
Law law_of_inserted_keys(const Law& scheme);

/// Pr(all counters of a key that was inserted true_count times reach true_count + gap), for a histogram of counts; n is
/// ignored.
Law histogram_law(const Law& scheme, std::uint64_t gap, std::uint64_t true_count,
                  const theory::CountHistogram& histogram);

/// The same when n counts insertions, each of another key. If there are more insertions than keys: when each insertion is of a
/// key drawn at random, and n is ignored.
Law insertions_law(const Law& scheme, std::uint64_t gap, std::uint64_t true_count, std::uint64_t num_keys,
                   std::uint64_t num_insertions);

}  // namespace tally::planner_detail

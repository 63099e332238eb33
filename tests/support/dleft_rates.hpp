#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/shapes/compact_dleft.hpp"
#include "tally/shapes/dleft.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally::test {

/// The probability that an absent key has the fingerprint of one of these keys.
inline double predicted_rate(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
}
inline double predicted_rate(const CompactDLeftShape& shape, std::uint64_t num_keys) {
  return theory::dleft_false_positive_probability(shape.num_lines_per_subtable, shape.fingerprints_per_line(),
                                                  num_keys);
}

template <class Filter>
std::uint64_t num_found(const Filter& filter, const std::vector<Hash128>& keys) {
  const auto found = std::make_unique<bool[]>(keys.size());
  filter.may_contain_batch(keys, std::span(found.get(), keys.size()));
  return static_cast<std::uint64_t>(std::count(found.get(), found.get() + keys.size(), true));
}

}  // namespace tally::test

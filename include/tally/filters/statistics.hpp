#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tally/hashing/hash_scheme.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// Statistics of a filter; fields that do not apply to a structure stay 0.
struct FilterStatistics {
  std::uint64_t num_positions = 0;
  std::uint64_t num_nonzero = 0;        ///< positions above 0
  std::uint64_t num_saturated = 0;      ///< counters at their maximum, which stay there
  std::vector<HistogramBin> histogram;  ///< counters by value
  std::uint64_t num_insertions = 0;
  std::uint64_t num_removes = 0;  ///< those that were not refused
  std::uint64_t num_refused_removes = 0;
  double estimated_num_keys = 0;                 ///< distinct keys; infinite if no position is 0
  double estimated_num_keys_standard_error = 0;  ///< of the estimate, for keys inserted once each
  double estimated_false_positive_rate =
      0;  ///< for a key never inserted, at the filter's threshold, for the current contents

  double fill_ratio() const noexcept {
    return num_positions == 0 ? 0 : static_cast<double>(num_nonzero) / static_cast<double>(num_positions);
  }
};

namespace detail {

/// The number of positions in [begin, end) that hold at least `value`.
inline std::uint64_t num_at_least(const BitArray& bits, std::uint64_t, std::uint64_t begin,
                                  std::uint64_t end) {
  return bits.num_set(begin, end);
}
inline std::uint64_t num_at_least(const CounterArray& counters, std::uint64_t value, std::uint64_t begin,
                                  std::uint64_t end) {
  return counters.num_at_least(value, begin, end);
}

/// The probability that a new key reaches `value` in all its positions, given the contents of the storage.
/// Exact for schemes whose positions are uniform and independent within their range.
template <class Storage>
double pass_probability(const Storage& storage, PositionLayout layout, PositionSpace space,
                        std::uint64_t value) {
  const auto share = [&](std::uint64_t begin, std::uint64_t end) {
    return static_cast<double>(num_at_least(storage, value, begin, end)) / static_cast<double>(end - begin);
  };
  const double k = space.num_hashes;
  if (layout == PositionLayout::whole) return std::pow(share(0, space.num_positions), k);
  const bool by_parts = layout == PositionLayout::parts;
  const std::uint64_t size = by_parts ? space.num_positions / space.num_hashes : space.positions_per_line;
  double product = 1;
  double sum = 0;
  for (std::uint64_t begin = 0; begin < space.num_positions; begin += size) {
    const double here = share(begin, begin + size);
    product *= here;
    sum += std::pow(here, k);
  }
  return by_parts ? product : sum * static_cast<double>(size) / static_cast<double>(space.num_positions);
}

struct KeyEstimate {
  double num_keys;
  double standard_error;
};

/// Distinct keys from the number of positions that are still 0.
template <class Storage>
KeyEstimate estimate_num_keys(const Storage& storage, PositionLayout layout, PositionSpace space);

extern template KeyEstimate estimate_num_keys(const BitArray&, PositionLayout, PositionSpace);
extern template KeyEstimate estimate_num_keys(const CounterArray&, PositionLayout, PositionSpace);

}  // namespace detail

/// The part of the statistics that follows from the storage and the layout of positions. `threshold` is the
/// value that every position of a key must reach for the key to pass.
template <class Storage>
FilterStatistics storage_statistics(const Storage& storage, PositionLayout layout, PositionSpace space,
                                    std::uint64_t threshold) {
  FilterStatistics statistics;
  statistics.num_positions = space.num_positions;
  statistics.num_nonzero = detail::num_at_least(storage, 1, 0, space.num_positions);
  const detail::KeyEstimate keys = detail::estimate_num_keys(storage, layout, space);
  statistics.estimated_num_keys = keys.num_keys;
  statistics.estimated_num_keys_standard_error = keys.standard_error;
  statistics.estimated_false_positive_rate = detail::pass_probability(storage, layout, space, threshold);
  if constexpr (std::is_same_v<Storage, CounterArray>) {
    statistics.histogram = storage.histogram();
    statistics.num_saturated = storage.num_at_least(storage.max(), 0, space.num_positions);
  }
  return statistics;
}

}  // namespace tally

#pragma once

#include <cstdint>
#include <vector>

#include "tally/export.hpp"
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

/// The part of the statistics that follows from the storage and the layout of positions. `threshold` is the
/// value that every position of a key must reach for the key to pass.
template <class Storage>
FilterStatistics storage_statistics(const Storage& storage, PositionLayout layout, PositionSpace space,
                                    std::uint64_t threshold);

extern template TALLY_EXPORT FilterStatistics storage_statistics(const BitArray&, PositionLayout,
                                                                 PositionSpace, std::uint64_t);
extern template TALLY_EXPORT FilterStatistics storage_statistics(const CounterArray&, PositionLayout,
                                                                 PositionSpace, std::uint64_t);

}  // namespace tally

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tally/detail/batches/near_keys.hpp"

namespace tally::detail {

inline constexpr std::size_t most_keys_per_run = 32;
inline constexpr std::size_t most_keys_ahead_in_runs = 64;

/// How a batch is split into runs for kernels. A run's spots are found and its lines prefetched while `keys_ahead` keys
/// before it are not yet processed. Both are powers of 2.
struct KeyRuns {
  std::size_t keys_per_run;
  std::size_t keys_ahead;

  /// How many of `num_keys` keys are in the run that begins at the key `first`.
  std::size_t count_from(std::size_t first, std::size_t num_keys) const noexcept {
    return std::min(keys_per_run, num_keys - first);
  }
  /// Where a key's spots are among those of the keys ahead.
  std::size_t place_of(std::size_t key) const noexcept { return key & (keys_ahead - 1); }

  /// Calls prepare(first, count) and then use(first, count) for every run of `num_keys` keys, each in order, and
  /// prepare(...) as many keys before as `keys_ahead` says.
  template <class Prepare, class Use>
  void for_each(std::size_t num_keys, Prepare prepare, Use use) const {
    const auto prepare_if_any = [&](std::size_t first) {
      if (first < num_keys) prepare(first, count_from(first, num_keys));
    };
    for (std::size_t first = 0; first < keys_ahead; first += keys_per_run) prepare_if_any(first);
    for (std::size_t first = 0; first < num_keys; first += keys_per_run) {
      use(first, count_from(first, num_keys));
      prepare_if_any(first + keys_ahead);
    }
  }
};

/// Where lines are in a cache, long runs cost the fewest calls. Where they come from memory, the prefetches of a long run
/// wait for each other, and then no line is on its way while the run is processed: `far` has short runs.
constexpr KeyRuns key_runs(std::uint64_t num_bytes, KeyRuns far) noexcept {
  return num_bytes <= near_bytes ? KeyRuns{most_keys_per_run, most_keys_ahead_in_runs} : far;
}

}  // namespace tally::detail

#pragma once

#include <cstdint>

#include "tally/export.hpp"
#include "tally/filters/outcomes.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/summaries/squid/digest.hpp"

namespace tally {

/// A directory that changes, from which a Squid digest can be taken at any time: a counter of 4 bits for
/// every bit of the digest.
///
/// Guarantee: `may_contain` is true for every key in it, here and in `digest()`, as long as only keys in it
/// are removed. Removing a key that is provably absent is refused and changes nothing. A counter at 15 stays
/// there: its bit never clears.
/// Threads: const functions may run concurrently; a write needs exclusive access.
class TALLY_EXPORT CountingSquidDigest {
 public:
  static constexpr std::uint32_t counter_bits = 4;

  /// Empty. Throws std::invalid_argument for a shape out of range, and std::bad_alloc if there is not enough
  /// memory.
  explicit CountingSquidDigest(const SquidShape& shape);

  CountingSquidDigest(const CountingSquidDigest&) = default;
  CountingSquidDigest(CountingSquidDigest&&) noexcept = default;
  CountingSquidDigest& operator=(const CountingSquidDigest& other) {
    return *this = CountingSquidDigest(other);
  }
  CountingSquidDigest& operator=(CountingSquidDigest&&) noexcept = default;
  ~CountingSquidDigest() = default;

  InsertResult insert(const SquidKey& key) noexcept;
  /// Removes one insertion of the key, unless it is provably absent.
  [[nodiscard]] RemoveResult remove(const SquidKey& key) noexcept;
  [[nodiscard]] bool may_contain(const SquidKey& key) const noexcept;

  /// The current bits: bit i is set if counter i is not 0. `count` is the number of keys in it, and
  /// `del_count` the number of removals that found a saturated counter.
  SquidDigest digest() const;

  const SquidShape& shape() const noexcept { return shape_; }
  /// The number of keys in it: insertions minus removals.
  std::uint64_t num_keys() const noexcept { return num_keys_; }
  std::uint64_t num_saturated_removes() const noexcept { return num_saturated_removes_; }

 private:
  SquidShape shape_;
  CounterArray counters_;
  std::uint64_t num_keys_ = 0;
  std::uint64_t num_saturated_removes_ = 0;
};

}  // namespace tally

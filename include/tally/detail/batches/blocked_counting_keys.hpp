#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tally/detail/batches/counter_kernels.hpp"
#include "tally/detail/batches/counting_keys.hpp"
#include "tally/detail/batches/key_runs.hpp"
#include "tally/detail/batches/own_positions.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/hashing/blocked_scheme.hpp"

namespace tally::detail {

inline constexpr KeyRuns far_counter_runs{8, 32};

/// With the kernels for counters of 4 bits, which the constructor chooses. Both ways lead to the same counters.
template <>
class CountingKeys<BlockedScheme> : public GeneralCountingKeys<BlockedScheme> {
  using General = GeneralCountingKeys<BlockedScheme>;

 public:
  CountingKeys(PositionSpace space, std::uint32_t counter_bits) noexcept
      : General(space), kernels_(counter_kernels(counter_bits, space.num_hashes)) {}

  bool has_kernels() const noexcept { return kernels_ != nullptr; }

  InsertResult insert(CounterArray& array, Hash128 hash) const noexcept {
    if (kernels_ == nullptr) return General::insert(array, hash);
    return kernels_->insert(array.words().data() + first_word_of(hash), hash, num_hashes());
  }

  RemoveResult remove(CounterArray& array, Hash128 hash) const noexcept {
    if (kernels_ == nullptr) return General::remove(array, hash);
    return kernels_->remove(array.words().data() + first_word_of(hash), hash, num_hashes());
  }

  bool passes(const CounterArray& array, Hash128 hash, std::uint64_t theta) const noexcept {
    if (kernels_ == nullptr) return General::passes(array, hash, theta);
    return kernels_->passes(array.words().data() + first_word_of(hash), hash, num_hashes(),
                            static_cast<std::uint32_t>(theta));
  }

  Count count(const CounterArray& array, Hash128 hash) const noexcept {
    if (kernels_ == nullptr) return General::count(array, hash);
    const std::uint64_t least =
        kernels_->count(array.words().data() + first_word_of(hash), hash, num_hashes());
    return {least, least == array.max()};
  }

  /// Needs kernels.
  std::uint64_t insert_spots(CounterArray& array, const CounterSpot* spots,
                             std::size_t num_keys) const noexcept {
    return kernels_->insert_all(array.words().data(), spots, num_keys, num_hashes());
  }

  template <KeyBatch Keys>
  std::uint64_t insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys) const noexcept {
    if (kernels_ == nullptr) return General::insert_batch(hasher, array, keys);
    std::uint64_t num_saturated = 0;
    for_each_run(hasher, array, keys, [&](std::size_t, const CounterSpot* spots, std::size_t count) {
      num_saturated += kernels_->insert_all(array.words().data(), spots, count, num_hashes());
    });
    return num_saturated;
  }

  /// Inserts the keys whose line is in `part`.
  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys, FilterPart part) const {
    const OwnPositions own(array.words().size(), 64 / array.counter_bits(), part);
    for_keys_of_own_lines(hasher, scheme(), own, keys,
                          [&](std::span<const Hash128> some) { (void)insert_batch(hasher, array, some); });
  }

  template <KeyBatch Keys>
  std::uint64_t remove_batch(const KeyHasher& hasher, CounterArray& array, const Keys& keys,
                             std::span<RemoveResult> results) const noexcept {
    if (kernels_ == nullptr) return General::remove_batch(hasher, array, keys, results);
    std::uint64_t num_refused = 0;
    for_each_run(hasher, array, keys, [&](std::size_t first, const CounterSpot* spots, std::size_t count) {
      num_refused +=
          kernels_->remove_all(array.words().data(), spots, count, num_hashes(), results.data() + first);
    });
    return num_refused;
  }

  template <KeyBatch Keys>
  void passes_batch(const KeyHasher& hasher, const CounterArray& array, const Keys& keys, std::uint64_t theta,
                    std::span<bool> results) const noexcept {
    if (kernels_ == nullptr) return General::passes_batch(hasher, array, keys, theta, results);
    for_each_run(hasher, array, keys, [&](std::size_t first, const CounterSpot* spots, std::size_t count) {
      kernels_->passes_all(array.words().data(), spots, count, num_hashes(),
                           static_cast<std::uint32_t>(theta), results.data() + first);
    });
  }

  template <KeyBatch Keys>
  void count_batch(const KeyHasher& hasher, const CounterArray& array, const Keys& keys,
                   std::span<Count> results) const noexcept {
    if (kernels_ == nullptr) return General::count_batch(hasher, array, keys, results);
    for_each_run(hasher, array, keys, [&](std::size_t first, const CounterSpot* spots, std::size_t count) {
      kernels_->count_all(array.words().data(), spots, count, num_hashes(), results.data() + first);
    });
  }

 private:
  std::uint64_t first_word_of(Hash128 hash) const noexcept { return scheme().first_of_line(hash) / 16; }

  /// Calls use(index of the first key, spots, number of keys) for runs of keys in order, with their lines prefetched well
  /// before.
  template <KeyBatch Keys, class Use>
  void for_each_run(const KeyHasher& hasher, const CounterArray& array, const Keys& key_range,
                    Use use) const noexcept {
    const KeyRuns runs = key_runs(array.words().size_bytes(), far_counter_runs);
    assert_uniform(key_range);
    const std::span keys(key_range);
    const std::uint64_t* const words = array.words().data();
    std::array<CounterSpot, most_keys_ahead_in_runs> spots;
    const auto spots_of = [&](std::size_t first) { return spots.data() + runs.place_of(first); };
    const auto prepare = [&](std::size_t first, std::size_t count) {
      CounterSpot* const own = spots_of(first);
      for (std::size_t i = 0; i < count; ++i) {
        const Hash128 hash = hasher(keys[first + i]);
        own[i] = {first_word_of(hash), hash.low, hash.high};
        prefetch_for_write(words + own[i].first_word);
      }
    };
    runs.for_each(keys.size(), prepare, [&](std::size_t first, std::size_t count) {
      use(first, static_cast<const CounterSpot*>(spots_of(first)), count);
    });
  }

  const CounterKernels* kernels_;
};

}  // namespace tally::detail

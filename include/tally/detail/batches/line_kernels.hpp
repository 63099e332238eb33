#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tally/detail/batches/key_runs.hpp"
#include "tally/detail/batches/register_kernels.hpp"
#include "tally/filters/key_batch.hpp"
#include "tally/hashing/register_blocked_scheme.hpp"
#include "tally/storage/bit_array.hpp"

namespace tally::detail {

/// Operations on the bits of a Bloom filter for schemes whose keys have all positions in one line and kernels for them.
/// This one is for all other schemes.
template <HashScheme Scheme>
struct LineKernels {
  static constexpr bool exist = false;
  explicit LineKernels(std::uint32_t /*num_hashes*/) noexcept {}
};

/// The kernels are chosen once per filter.
template <>
class LineKernels<RegisterBlockedScheme> {
 public:
  using Scheme = RegisterBlockedScheme;
  static constexpr bool exist = true;

  explicit LineKernels(std::uint32_t num_hashes) noexcept
      : kernels_(&register_kernels(num_hashes)), num_hashes_(num_hashes) {}

  void insert(const Scheme& scheme, BitArray& bits, Hash128 hash) const noexcept {
    kernels_->insert(bits.line(scheme.line(hash)), hash, num_hashes_);
  }
  bool contains(const Scheme& scheme, const BitArray& bits, Hash128 hash) const noexcept {
    return kernels_->contains(bits.line(scheme.line(hash)), hash, num_hashes_);
  }
  bool test_and_insert(const Scheme& scheme, BitArray& bits, Hash128 hash) const noexcept {
    return kernels_->test_and_insert(bits.line(scheme.line(hash)), hash, num_hashes_);
  }

  /// Inserts the digests {low[i], high[i]} into lines[i].
  void insert_each(std::uint64_t* const* lines, const std::uint64_t* low, const std::uint64_t* high,
                   std::size_t num_keys) const noexcept {
    kernels_->insert_batch(lines, low, high, num_hashes_, num_keys);
  }

  template <KeyBatch Keys>
  void insert_batch(const KeyHasher& hasher, const Scheme& scheme, BitArray& bits,
                    const Keys& keys) const noexcept {
    for_each_run<Access::write>(hasher, scheme, bits, keys, [&](std::size_t, const auto& run) {
      kernels_->insert_batch(run.lines, run.low, run.high, num_hashes_, run.num_keys);
    });
  }

  /// results[i]: whether all positions of keys[i] are set.
  template <KeyBatch Keys>
  void contains_batch(const KeyHasher& hasher, const Scheme& scheme, const BitArray& bits, const Keys& keys,
                      std::span<bool> results) const noexcept {
    for_each_run<Access::read>(hasher, scheme, bits, keys, [&](std::size_t first, const auto& run) {
      kernels_->contains_batch(run.lines, run.low, run.high, num_hashes_, run.num_keys,
                               results.data() + first);
    });
  }

 private:
  static constexpr KeyRuns far_runs{8, 64};

  template <class Word>
  struct Run {
    Word* const* lines;
    const std::uint64_t* low;
    const std::uint64_t* high;
    std::size_t num_keys;
  };

  /// Calls use(index of the first key, run) for runs of keys in order, with all lines of a run prefetched well before.
  template <Access access, class Bits, KeyBatch Keys, class Use>
  static void for_each_run(const KeyHasher& hasher, const Scheme& scheme, Bits& bits, const Keys& key_range,
                           Use use) noexcept {
    using Word = std::remove_pointer_t<decltype(bits.line(0))>;
    const KeyRuns runs = key_runs(bits.words().size_bytes(), far_runs);
    assert_uniform(key_range);
    const std::span keys(key_range);
    std::array<std::uint64_t, most_keys_ahead_in_runs> low;
    std::array<std::uint64_t, most_keys_ahead_in_runs> high;
    std::array<Word*, most_keys_ahead_in_runs> lines;
    const auto prepare = [&](std::size_t first, std::size_t count) {
      const std::size_t place = runs.place_of(first);
      for (std::size_t i = 0; i < count; ++i) {
        const Hash128 hash = hasher(keys[first + i]);
        const std::uint64_t line = scheme.line(hash);
        low[place + i] = hash.low;
        high[place + i] = hash.high;
        lines[place + i] = bits.line(line);
        prefetch_at<access>(bits, line * BitArray::positions_per_line);
      }
    };
    runs.for_each(keys.size(), prepare, [&](std::size_t first, std::size_t count) {
      const std::size_t place = runs.place_of(first);
      use(first, Run<Word>{lines.data() + place, low.data() + place, high.data() + place, count});
    });
  }

  const RegisterKernels* kernels_;
  std::uint32_t num_hashes_;
};

}  // namespace tally::detail

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// A set of digests, about 18 bytes each: of keys, exact but for two keys of one digest
/// (n keys: n^2 / 2^129).
///
/// Ordered linear probing: a digest's home slot is proportional to it, and slots are in
/// ascending order, so that a search for an absent digest ends at the first larger one,
/// short even when the set is 92% full. The set is cut into shards, each of which
/// grows by a twelfth at a time, so that what it takes while it grows is little above
/// what it holds. `insert` allocates nothing; it says 'full', with nothing changed, when
/// the digest's shard has no room, and `try_grow` is a call of its own.
/// Thread rule: reads (const functions) may run together, a write runs alone.
/// Source: Amble and Knuth 1974, "Ordered hash tables".
class HashSet {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  /// Never takes more than `max_bytes` (but for a minimum of a few slots).
  /// Throws std::bad_alloc where there is not enough memory.
  explicit HashSet(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

  Outcome insert(Hash128 digest) noexcept {
    const Hash128 wanted = stored(digest);
    Shard& shard = shard_of(wanted);
    const std::uint64_t slot = shard.find(wanted);
    if (shard.holds(slot, wanted)) return Outcome::present;
    if (shard.size == shard.max_size || !shard.place(slot, wanted)) return Outcome::full;
    ++size_;
    return Outcome::inserted;
  }

  bool contains(Hash128 digest) const noexcept {
    const Hash128 wanted = stored(digest);
    const Shard& shard = shard_of(wanted);
    return shard.holds(shard.find(wanted), wanted);
  }

  void prefetch(Hash128 digest) const noexcept {
    const Hash128 wanted = stored(digest);
    const Shard& shard = shard_of(wanted);
    detail::prefetch_for_read(shard.words.data() + 2 * reduce_to_range(wanted.low, shard.num_homes));
  }

  /// Makes room in the shard of this digest. False if max_bytes does not allow it.
  /// Throws std::bad_alloc, and nothing has changed then.
  bool try_grow(Hash128 digest);

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }

 private:
  struct Shard {
    detail::AlignedWords words;  // slot i: words 2i (low) and 2i + 1 (high); low 0 is an empty slot
    std::uint64_t num_homes = 0;
    std::uint64_t num_slots = 0;  // the last one stays empty and ends every search
    std::uint64_t size = 0;
    std::uint64_t max_size = 0;

    // The slot of `wanted`, or the one where it belongs.
    std::uint64_t find(Hash128 wanted) const noexcept {
      const std::uint64_t* const low = words.data();
      std::uint64_t slot = reduce_to_range(wanted.low, num_homes);
      while (low[2 * slot] - 1 < wanted.low - 1) ++slot;  // an empty slot wraps around to the largest number
      while (low[2 * slot] == wanted.low && low[2 * slot + 1] != wanted.high) ++slot;
      return slot;
    }
    bool holds(std::uint64_t slot, Hash128 wanted) const noexcept {
      return words.data()[2 * slot] == wanted.low && words.data()[2 * slot + 1] == wanted.high;
    }
    bool place(std::uint64_t slot, Hash128 digest) noexcept;
  };

  // No digest has low 0 here: that marks an empty slot, and such a digest shares a slot with its neighbour.
  static Hash128 stored(Hash128 digest) noexcept {
    digest.low += digest.low == 0;
    return digest;
  }

  const Shard& shard_of(Hash128 digest) const noexcept { return shards_[reduce_to_range(digest.high, shards_.size())]; }
  Shard& shard_of(Hash128 digest) noexcept { return shards_[reduce_to_range(digest.high, shards_.size())]; }

  static Shard make_shard(std::uint64_t num_homes);
  static std::uint64_t bytes_for(std::uint64_t num_homes) noexcept;

  std::vector<Shard> shards_;
  std::uint64_t max_homes_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t num_bytes_ = 0;
};

}  // namespace tally

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tally/detail/aligned_words.hpp"
#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"
#include "tally/sets/digest_shard.hpp"

namespace tally {

/// A set of digests of keys, about 16 bytes each. It is exact except for two keys whose digests agree in all
/// 102 bits that it stores (n keys: n^2 / 2^103, unless someone chose keys against the seed of the hash), or
/// 96 bits in a set of less than 1 MiB.
///
/// The highest bits of a digest choose one of 64 shards (or of one, below 1 MiB), so the set need not store
/// them. Each shard grows by a third when it is 14/15 full. Shards grow at different times, so the memory for
/// copying is small compared with the whole set.
/// Threads: const functions may run concurrently; a write needs exclusive access, `insert`, `try_insert` and `try_grow` only to
/// the shard of their digest. Functions of the whole set, such as `size`, read all shards.
class TALLY_EXPORT HashSet {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  /// Never takes more than `max_bytes` (except for a minimum of two lines of 64 bytes), including copies
  /// during `try_grow`. Below 1 MiB all of it is allocated at once, and nothing grows. Throws std::bad_alloc
  /// if there is not enough memory.
  explicit HashSet(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

  /// The set that gave this image, with the same max_bytes; it behaves exactly as the original. Throws
  /// std::invalid_argument if the image is invalid; std::bad_alloc.
  HashSet(std::uint64_t max_bytes, std::span<const std::uint64_t> image);
  /// The same from the words of its shards, without a copy.
  HashSet(std::uint64_t max_bytes, std::vector<detail::AlignedWords> words_of_shards);

  HashSet(const HashSet&) = default;
  HashSet(HashSet&&) noexcept = default;
  HashSet& operator=(const HashSet& other) { return *this = HashSet(other); }
  HashSet& operator=(HashSet&&) noexcept = default;
  ~HashSet() = default;

  /// The whole set in words: for each shard the number of words that follow, then those words.
  std::vector<std::uint64_t> image() const;
  std::span<const DigestShard> shards() const noexcept { return shards_; }
  std::uint64_t index_of_shard(Hash128 digest) const noexcept {
    return reduce_to_range(digest.high, shards_.size());
  }

  /// Makes room if needed. `full`: max_bytes does not allow it, and nothing has changed. Throws std::bad_alloc, and the
  /// digest is then not in the set.
  [[nodiscard]] Outcome insert(Hash128 digest) {
    Outcome outcome = try_insert(digest);
    while (outcome == Outcome::full && try_grow(digest)) outcome = try_insert(digest);
    return outcome;
  }

  /// As insert, but never makes room: `full` also means that `try_grow` may help. Allocates nothing.
  [[nodiscard]] Outcome try_insert(Hash128 digest) noexcept {
    DigestShard& shard = shards_[index_of_shard(digest)];
    if (shard.contains(digest)) return Outcome::present;
    if (shard.size() >= max_size(shard.num_lines()) || !shard.insert(digest)) return Outcome::full;
    return Outcome::inserted;
  }

  [[nodiscard]] bool contains(Hash128 digest) const noexcept {
    return shards_[index_of_shard(digest)].contains(digest);
  }

  /// Writes the indices of the digests that the set does not contain, in order, and returns how many there
  /// are. `indices` is as long as `digests`, which are fewer than 2^32.
  std::size_t find_absent(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const noexcept;

  void prefetch(Hash128 digest) const noexcept { shards_[index_of_shard(digest)].prefetch(digest); }

  /// Makes room in the shard of this digest. Returns false if max_bytes does not allow it. Throws
  /// std::bad_alloc, and then changes nothing.
  [[nodiscard]] bool try_grow(Hash128 digest);

  /// Removes all digests. The memory stays allocated for new ones.
  void clear() noexcept {
    for (DigestShard& shard : shards_) shard.clear();
  }

  std::uint64_t size() const noexcept {
    std::uint64_t size = 0;
    for (const DigestShard& shard : shards_) size += shard.size();
    return size;
  }

  /// About how many digests fit in a set of `max_bytes`: its shards do not fill up all at once.
  static std::uint64_t capacity(std::uint64_t max_bytes) noexcept;
  /// For a large set that has just room to grow to its size.
  static constexpr double least_bytes_a_digest = 64.0 / 5 * 15 / 14 * 65 / 64;

  /// The memory between calls; `try_grow` temporarily takes as much again as the largest shard.
  std::uint64_t num_bytes() const noexcept;
  /// An upper bound of what num_bytes() grows by with `num_digests` more.
  std::uint64_t most_growth_bytes(std::uint64_t num_digests) const noexcept;
  /// The same for the memory at the peak of inserting them.
  std::uint64_t most_bytes_to_insert(std::uint64_t num_digests) const noexcept;

 private:
  static std::uint64_t max_size(std::uint64_t num_lines) noexcept {
    return num_lines * DigestShard::digests_per_line * 14 / 15;
  }
  void take_shard(std::size_t i, detail::AlignedWords words);

  std::vector<DigestShard> shards_;
  std::uint64_t max_lines_ = 0;  // of a shard
};

}  // namespace tally

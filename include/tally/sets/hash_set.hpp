#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"
#include "tally/sets/digest_shard.hpp"

namespace tally {

/// A set of digests, about 16 bytes each: of keys, exact but for two keys whose digests agree in
/// all the 102 bits that it keeps (n keys: n^2 / 2^103, unless keys are chosen against the seed of the hash), or 96
/// bits in a set of less than 1 MiB.
///
/// A digest belongs to one of 64 shards (or of one, below 1 MiB) by its highest bits, which need not be kept with
/// it. Each shard grows by a third when it is 14/15 full, at a time of its own, so that what is copied meanwhile is
/// little beside the whole. `insert` allocates nothing; it says 'full', with nothing changed, when the digest's
/// shard has no room, and `try_grow` is a call of its own.
/// Thread rule: reads (const functions) may run together, a write runs alone.
class HashSet {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  /// Never takes more than `max_bytes` (but for a minimum of two lines of 64), what is copied in
  /// `try_grow` included. Below 1 MiB all of it is taken at once, and nothing grows.
  /// Throws std::bad_alloc where there is not enough memory.
  explicit HashSet(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

  /// The set that gave this image, under the same max_bytes: it does from then on what that one would.
  /// Throws std::invalid_argument if the image is none; std::bad_alloc.
  HashSet(std::uint64_t max_bytes, std::span<const std::uint64_t> image);

  HashSet(const HashSet&) = default;
  HashSet(HashSet&&) noexcept = default;
  HashSet& operator=(const HashSet& other) { return *this = HashSet(other); }
  HashSet& operator=(HashSet&&) noexcept = default;
  ~HashSet() = default;

  /// All of the set, in words: for each of its shards the number of words that follow, and those.
  std::vector<std::uint64_t> image() const;

  Outcome insert(Hash128 digest) noexcept {
    DigestShard& shard = shards_[index_of_shard(digest)];
    if (shard.contains(digest)) return Outcome::present;
    if (shard.size() >= max_size(shard.num_lines()) || !shard.insert(digest)) return Outcome::full;
    ++size_;
    return Outcome::inserted;
  }

  bool contains(Hash128 digest) const noexcept { return shards_[index_of_shard(digest)].contains(digest); }

  /// Writes the indices of the digests that it does not contain, in order, and returns how many there are.
  /// `indices` is as long as `digests`, fewer than 2^32.
  std::size_t find_absent(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const noexcept;

  void prefetch(Hash128 digest) const noexcept { shards_[index_of_shard(digest)].prefetch(digest); }

  /// Makes room in the shard of this digest. False if max_bytes does not allow it.
  /// Throws std::bad_alloc, and nothing has changed then.
  bool try_grow(Hash128 digest);

  /// As `insert`, and makes room as often as that takes: 'full' where max_bytes does not allow it.
  /// Throws std::bad_alloc, and the digest is not in the set then.
  Outcome insert_growing(Hash128 digest) {
    Outcome outcome = insert(digest);
    while (outcome == Outcome::full && try_grow(digest)) outcome = insert(digest);
    return outcome;
  }

  /// Forgets all digests. What memory it has it keeps, for those that come.
  void clear() noexcept {
    for (DigestShard& shard : shards_) shard.clear();
    size_ = 0;
  }

  std::uint64_t size() const noexcept { return size_; }

  /// How many digests a set of so many bytes has room for, about: its shards are not full all at once.
  static std::uint64_t capacity(std::uint64_t max_bytes) noexcept;
  /// Of a large set that may just grow so far.
  static constexpr double least_bytes_a_digest = 64.0 / 5 * 15 / 14 * 65 / 64;

  /// What it takes between calls; `try_grow` takes as much as the largest shard beside it.
  std::uint64_t num_bytes() const noexcept;

 private:
  static std::uint64_t max_size(std::uint64_t num_lines) noexcept {
    return num_lines * DigestShard::digests_per_line * 14 / 15;
  }
  std::uint64_t index_of_shard(Hash128 digest) const noexcept {
    return reduce_to_range(digest.high, shards_.size());
  }

  std::vector<DigestShard> shards_;
  std::uint64_t max_lines_ = 0;  // of a shard
  std::uint64_t size_ = 0;
};

}  // namespace tally

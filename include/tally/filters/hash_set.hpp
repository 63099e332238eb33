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
/// A 64-byte line holds four digests, and a digest stands in its home line or, where that
/// was full, in the next one with room. A line that was passed so is marked, and a search
/// ends at the first unmarked one: one cache miss for most digests, present or absent.
/// The set is cut into shards, each of which grows
/// by a twelfth at a time when it is 95% full, so that what it takes while it grows is
/// little above what it holds. `insert` allocates nothing; it says 'full', with nothing
/// changed, when the digest's shard has no room, and `try_grow` is a call of its own.
/// Thread rule: reads (const functions) may run together, a write runs alone.
class HashSet {
 public:
  enum class Outcome : std::uint8_t { inserted, present, full };

  /// Never takes more than `max_bytes` (but for a minimum of a few lines).
  /// Throws std::bad_alloc where there is not enough memory.
  explicit HashSet(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

  Outcome insert(Hash128 digest) noexcept {
    const Hash128 wanted = stored(digest);
    Shard& shard = shard_of(wanted);
    if (shard.contains(wanted)) return Outcome::present;
    if (shard.size == shard.max_size || !shard.place(wanted)) return Outcome::full;
    ++size_;
    return Outcome::inserted;
  }

  bool contains(Hash128 digest) const noexcept {
    const Hash128 wanted = stored(digest);
    return shard_of(wanted).contains(wanted);
  }

  void prefetch(Hash128 digest) const noexcept {
    const Hash128 wanted = stored(digest);
    const Shard& shard = shard_of(wanted);
    detail::prefetch_for_read(shard.line(shard.home(wanted)));
  }

  /// Makes room in the shard of this digest. False if max_bytes does not allow it.
  /// Throws std::bad_alloc, and nothing has changed then.
  bool try_grow(Hash128 digest);

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }

 private:
  static constexpr std::uint64_t digests_a_line = 4;

  // The mark of a line: the top bit of its first low half. That bit of a digest is not stored; it is
  // known from where the digest stands, because it halves the range of home lines.
  static constexpr std::uint64_t mark = std::uint64_t{1} << 63;

  struct Shard {
    detail::AlignedWords words;  // a line is four low halves, then their high halves; low 0 is an empty place
    std::uint64_t num_homes = 0;
    std::uint64_t num_lines = 0;
    std::uint64_t size = 0;
    std::uint64_t max_size = 0;

    std::uint64_t home(Hash128 digest) const noexcept { return reduce_to_range(digest.low, num_homes); }
    const std::uint64_t* line(std::uint64_t i) const noexcept {
      return words.data() + 2 * digests_a_line * i;
    }
    std::uint64_t* line(std::uint64_t i) noexcept { return words.data() + 2 * digests_a_line * i; }

    bool contains(Hash128 wanted) const noexcept {
      for (const std::uint64_t* low = line(home(wanted));; low += 2 * digests_a_line) {
        bool is_here = false;
        for (std::uint64_t j = 0; j < digests_a_line; ++j) {
          is_here |= ((low[j] ^ wanted.low) << 1 | (low[j + digests_a_line] ^ wanted.high)) == 0;
        }
        if (is_here || (low[0] & mark) == 0) return is_here;
      }
    }
    bool place(Hash128 digest) noexcept;
  };

  // No stored low half is 0: that marks an empty place, and such a digest is taken for its neighbour.
  static Hash128 stored(Hash128 digest) noexcept {
    digest.low += (digest.low << 1) == 0;
    return digest;
  }

  const Shard& shard_of(Hash128 digest) const noexcept {
    return shards_[reduce_to_range(digest.high, shards_.size())];
  }
  Shard& shard_of(Hash128 digest) noexcept { return shards_[reduce_to_range(digest.high, shards_.size())]; }

  static Shard make_shard(std::uint64_t num_homes);
  static bool move_all(const Shard& from, Shard& to) noexcept;
  static std::uint64_t bytes_for(std::uint64_t num_homes) noexcept;

  std::vector<Shard> shards_;
  std::uint64_t max_homes_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t num_bytes_ = 0;
};

}  // namespace tally

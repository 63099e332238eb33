#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// A table of digests in 64-byte lines of four; a digest stands in one of two lines that
/// are its own. What HashSet is made of.
///
/// A line is four low halves, then their four high halves, filled from the front; {0, 0} is
/// an empty place, and that digest is taken for {0, 1}. A new digest goes to the first of its
/// lines that has room; where neither has, others are moved to their other lines, found by a
/// bounded breadth-first search. So a table can be filled to about 97%, and a search
/// is one cache miss for most digests that are present, two for the others.
/// Source: Dietzfelbinger and Weidling, "Balanced allocation and dictionaries with tightly packed
/// constant size bins" (2007).
class DigestShard {
 public:
  static constexpr std::uint64_t digests_per_line = 4;
  static constexpr std::uint64_t words_per_line = 2 * digests_per_line;

  /// Empty, of at least one line. Throws std::bad_alloc where there is not enough memory.
  explicit DigestShard(std::uint64_t num_lines) : words_(words_per_line * num_lines), num_lines_(num_lines) {}

  /// Of the words that another one listed, whole lines and at least one. Throws std::invalid_argument where a
  /// digest stands in a line that is not its own, or behind an empty place; std::bad_alloc.
  explicit DigestShard(std::span<const std::uint64_t> words);

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t num_lines() const noexcept { return num_lines_; }

  std::span<const std::uint64_t> words() const noexcept { return words_.words(); }

  static Hash128 stored(Hash128 digest) noexcept {
    digest.high += (digest.low | digest.high) == 0;
    return digest;
  }

  const std::uint64_t* first_line(Hash128 digest) const noexcept {
    return line(reduce_to_range(digest.low, num_lines_));
  }
  const std::uint64_t* second_line(Hash128 digest) const noexcept {
    return line(reduce_to_range((digest.low ^ digest.high) * 0x9e3779b97f4a7c15u, num_lines_));
  }

  static bool stands_in(const std::uint64_t* line, Hash128 digest) noexcept {
    bool is_here = false;
    for (std::uint64_t j = 0; j < digests_per_line; ++j) {
      is_here |= ((line[j] ^ digest.low) | (line[j + digests_per_line] ^ digest.high)) == 0;
    }
    return is_here;
  }

  bool contains(Hash128 digest) const noexcept {
    return stands_in(first_line(digest), digest) || stands_in(second_line(digest), digest);
  }

  void prefetch(Hash128 digest) const noexcept { detail::prefetch_for_read(first_line(digest)); }

  /// Takes a digest that it does not contain; false, and nothing has changed, if no place was found.
  bool insert(Hash128 digest) noexcept;

  /// Inserts all of another's digests, those before the others that stand in their first lines there
  /// (which is an order of the lines here too). False if not all found a place.
  /// Throws std::bad_alloc where there is not enough memory.
  bool insert_all(const DigestShard& other);

 private:
  const std::uint64_t* line(std::uint64_t i) const noexcept { return words_.data() + words_per_line * i; }
  const std::uint64_t* other_line(const std::uint64_t* line, Hash128 digest) const noexcept {
    const std::uint64_t* const first = first_line(digest);
    return line == first ? second_line(digest) : first;
  }
  void put(const std::uint64_t* line, std::uint64_t place, Hash128 digest) noexcept;
  bool insert_by_moves(Hash128 digest) noexcept;

  detail::AlignedWords words_;
  std::uint64_t num_lines_;
  std::uint64_t size_ = 0;
};

}  // namespace tally

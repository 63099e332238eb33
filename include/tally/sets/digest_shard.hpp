#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/export.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// A table of digests in 64-byte lines of five; each digest is stored in one of its two lines. HashSet
/// consists of these. It stores 96 bits of a digest, `low` and the lower half of `high`; two digests that
/// agree in those are the same digest here.
///
/// A line is five words of `low`, five half words of `high`, and a half word for the number of digests, which
/// are filled from the front, and for whether the second line of some digest holds it although this is its
/// first line. A new digest goes to the first of its lines that has room. If neither has room, a bounded
/// breadth-first search finds other digests to move to their other lines. So a table can be filled to about
/// 98%, and a search costs one cache miss, or two if digests were moved.
/// Source: Dietzfelbinger and Weidling, "Balanced allocation and dictionaries with tightly packed constant
/// size bins" (2007).
class TALLY_EXPORT DigestShard {
 public:
  static constexpr std::uint64_t digests_per_line = 5;
  static constexpr std::uint64_t words_per_line = 8;

  /// Empty, with at least one line. Throws std::bad_alloc if there is not enough memory.
  explicit DigestShard(std::uint64_t num_lines) : words_(words_per_line * num_lines), num_lines_(num_lines) {}

  /// From the words that another table listed, whole lines and at least one. Throws std::invalid_argument if
  /// a digest is stored in a line where a search would not find it, or a line is invalid; std::bad_alloc.
  explicit DigestShard(std::span<const std::uint64_t> words);
  explicit DigestShard(detail::AlignedWords words);

  DigestShard(const DigestShard&) = default;
  DigestShard(DigestShard&&) noexcept = default;
  DigestShard& operator=(const DigestShard& other) { return *this = DigestShard(other); }
  DigestShard& operator=(DigestShard&&) noexcept = default;
  ~DigestShard() = default;

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t num_lines() const noexcept { return num_lines_; }

  std::span<const std::uint64_t> words() const noexcept { return words_.words(); }

  const std::uint64_t* first_line(Hash128 digest) const noexcept {
    return line(reduce_to_range(digest.low, num_lines_));
  }
  const std::uint64_t* second_line(Hash128 digest) const noexcept {
    return line(reduce_to_range((digest.low ^ half(digest)) * 0x9e3779b97f4a7c15u, num_lines_));
  }

  static std::uint64_t num_in(const std::uint64_t* line) noexcept {
    return (line[state_word] & (passed_over - 1)) / one_digest;
  }
  /// Whether a digest whose first line this is may be stored in its second line.
  static bool is_passed_over(const std::uint64_t* line) noexcept {
    return (line[state_word] & passed_over) != 0;
  }
  static bool stands_in(const std::uint64_t* line, Hash128 digest) noexcept {
    const std::uint64_t count = num_in(line);
    bool is_here = false;
    // Without a branch, which would often be mispredicted.
    for (std::uint64_t index = 0; index < digests_per_line; ++index) {
      const Hash128 other = digest_at(line, index);
      const bool is_same = ((other.low ^ digest.low) | (other.high ^ half(digest))) == 0;
      is_here |= is_same & (index < count);
    }
    return is_here;
  }

  bool contains(Hash128 digest) const noexcept {
    const std::uint64_t* const first = first_line(digest);
    return stands_in(first, digest) || (is_passed_over(first) && stands_in(second_line(digest), digest));
  }

  void prefetch(Hash128 digest) const noexcept { detail::prefetch_for_read(first_line(digest)); }

  /// Removes all digests; the memory stays allocated.
  void clear() noexcept;

  /// Inserts a digest that the table does not contain; returns false and changes nothing if it finds no room.
  bool insert(Hash128 digest) noexcept;

  /// Inserts all digests of another table, first those that are stored in their first lines there (which is
  /// an order of the lines here too). Returns false if not all of them found room. Throws std::bad_alloc if
  /// there is not enough memory.
  bool insert_all(const DigestShard& other);

 private:
  static constexpr std::uint64_t half_words = digests_per_line;
  static constexpr std::uint64_t state_word = words_per_line - 1;  // its upper half
  static constexpr std::uint64_t one_digest = std::uint64_t{1} << 32;
  static constexpr std::uint64_t passed_over = 8 * one_digest;

  static std::uint32_t half(Hash128 digest) noexcept { return static_cast<std::uint32_t>(digest.high); }
  static Hash128 digest_at(const std::uint64_t* line, std::uint64_t index) noexcept {
    return {line[index], static_cast<std::uint32_t>(line[half_words + index / 2] >> 32 * (index % 2))};
  }

  const std::uint64_t* line(std::uint64_t i) const noexcept { return words_.data() + words_per_line * i; }
  const std::uint64_t* other_line(const std::uint64_t* line, Hash128 digest) const noexcept {
    const std::uint64_t* const first = first_line(digest);
    return line == first ? second_line(digest) : first;
  }
  std::uint64_t* writable(const std::uint64_t* line) noexcept {
    return words_.data() + (line - words_.data());
  }
  void put(const std::uint64_t* line, std::uint64_t index, Hash128 digest) noexcept;
  void append(const std::uint64_t* line, Hash128 digest) noexcept;
  bool insert_by_moves(Hash128 digest) noexcept;

  detail::AlignedWords words_;
  std::uint64_t num_lines_;
  std::uint64_t size_ = 0;
};

}  // namespace tally

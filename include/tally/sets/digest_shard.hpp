#pragma once

#include <cstdint>
#include <span>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/hashing/hash128.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// A table of digests in 64-byte lines of five; a digest stands in one of two lines that
/// are its own. What HashSet is made of. Of a digest it keeps 96 bits, `low` and the lower half of
/// `high`; two that agree in those are one digest here.
///
/// A line is five words of `low`, five half words of `high`, and a half word for how many there are, filled
/// from the front, and whether some digest whose first line this is stands in its second one.
/// A new digest goes to the first of its lines that has room; where neither has, others are moved to
/// their other lines, found by a bounded breadth-first search. So a table can be filled to about 98%, and a
/// search is one cache miss, or two if digests had to make way.
/// Source: Dietzfelbinger and Weidling, "Balanced allocation and dictionaries with tightly packed
/// constant size bins" (2007).
class DigestShard {
 public:
  static constexpr std::uint64_t digests_per_line = 5;
  static constexpr std::uint64_t words_per_line = 8;

  /// Empty, of at least one line. Throws std::bad_alloc where there is not enough memory.
  explicit DigestShard(std::uint64_t num_lines) : words_(words_per_line * num_lines), num_lines_(num_lines) {}

  /// Of the words that another one listed, whole lines and at least one. Throws std::invalid_argument where a
  /// digest stands in a line where it would not be found, or a line is none; std::bad_alloc.
  explicit DigestShard(std::span<const std::uint64_t> words);

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
  /// Whether a digest whose first line this is may stand in its second one.
  static bool is_passed_over(const std::uint64_t* line) noexcept {
    return (line[state_word] & passed_over) != 0;
  }
  static bool stands_in(const std::uint64_t* line, Hash128 digest) noexcept {
    const std::uint64_t count = num_in(line);
    bool is_here = false;
    // Without a branch, whose guess would often be wrong.
    for (std::uint64_t place = 0; place < digests_per_line; ++place) {
      const Hash128 other = digest_at(line, place);
      const bool is_same = ((other.low ^ digest.low) | (other.high ^ half(digest))) == 0;
      is_here |= is_same & (place < count);
    }
    return is_here;
  }

  bool contains(Hash128 digest) const noexcept {
    const std::uint64_t* const first = first_line(digest);
    return stands_in(first, digest) || (is_passed_over(first) && stands_in(second_line(digest), digest));
  }

  void prefetch(Hash128 digest) const noexcept { detail::prefetch_for_read(first_line(digest)); }

  /// Forgets all digests; the memory stays.
  void clear() noexcept;

  /// Takes a digest that it does not contain; false, and nothing has changed, if no place was found.
  bool insert(Hash128 digest) noexcept;

  /// Inserts all of another's digests, those before the others that stand in their first lines there
  /// (which is an order of the lines here too). False if not all found a place.
  /// Throws std::bad_alloc where there is not enough memory.
  bool insert_all(const DigestShard& other);

 private:
  static constexpr std::uint64_t half_words = digests_per_line;
  static constexpr std::uint64_t state_word = words_per_line - 1;  // its upper half
  static constexpr std::uint64_t one_digest = std::uint64_t{1} << 32;
  static constexpr std::uint64_t passed_over = 8 * one_digest;

  static std::uint32_t half(Hash128 digest) noexcept { return static_cast<std::uint32_t>(digest.high); }
  static Hash128 digest_at(const std::uint64_t* line, std::uint64_t place) noexcept {
    return {line[place], static_cast<std::uint32_t>(line[half_words + place / 2] >> 32 * (place % 2))};
  }

  const std::uint64_t* line(std::uint64_t i) const noexcept { return words_.data() + words_per_line * i; }
  const std::uint64_t* other_line(const std::uint64_t* line, Hash128 digest) const noexcept {
    const std::uint64_t* const first = first_line(digest);
    return line == first ? second_line(digest) : first;
  }
  std::uint64_t* writable(const std::uint64_t* line) noexcept {
    return words_.data() + (line - words_.data());
  }
  void put(const std::uint64_t* line, std::uint64_t place, Hash128 digest) noexcept;
  void append(const std::uint64_t* line, Hash128 digest) noexcept;
  bool insert_by_moves(Hash128 digest) noexcept;

  detail::AlignedWords words_;
  std::uint64_t num_lines_;
  std::uint64_t size_ = 0;
};

}  // namespace tally

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "tally/detail/aligned_words.hpp"
#include "tally/detail/prefetch.hpp"
#include "tally/export.hpp"

namespace tally {

/// An array of bits, all clear at first: bit i is bit i mod 64 of word i / 64. The bits after the last one,
/// up to the end of its word, stay clear.
class TALLY_EXPORT BitArray {
 public:
  static constexpr std::uint32_t positions_per_line = 512;

  /// The number of words that `num_bits` bits take.
  static constexpr std::uint64_t num_words(std::uint64_t num_bits) noexcept {
    return num_bits / 64 + (num_bits % 64 != 0);
  }

  explicit BitArray(std::uint64_t num_bits) : words_(num_words(num_bits)), num_bits_(num_bits) {}

  /// Takes over words from a file; `words` has num_words(num_bits) of them.
  BitArray(std::uint64_t num_bits, detail::AlignedWords words) noexcept
      : words_(std::move(words)), num_bits_(num_bits) {}

  BitArray(const BitArray&) = default;
  BitArray(BitArray&&) noexcept = default;
  BitArray& operator=(const BitArray& other) { return *this = BitArray(other); }
  BitArray& operator=(BitArray&&) noexcept = default;
  ~BitArray() = default;

  std::uint64_t size() const noexcept { return num_bits_; }

  bool get(std::uint64_t i) const noexcept { return (words_.data()[i / 64] >> (i % 64) & 1) != 0; }
  void set(std::uint64_t i) noexcept { words_.data()[i / 64] |= std::uint64_t{1} << (i % 64); }
  void clear(std::uint64_t i) noexcept { words_.data()[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  /// The words of the i-th line, which exists as a whole.
  std::uint64_t* line(std::uint64_t i) noexcept { return words_.data() + words_per_line * i; }
  const std::uint64_t* line(std::uint64_t i) const noexcept { return words_.data() + words_per_line * i; }

  /// The number of set bits among positions [begin, end).
  std::uint64_t num_set(std::uint64_t begin, std::uint64_t end) const noexcept;

  void clear() noexcept { words_.clear(); }

  /// Sets every bit that is set in `other`, which has the same size.
  void merge(const BitArray& other) noexcept;
  /// Clears every bit that is clear in `other`, which has the same size.
  void intersect(const BitArray& other) noexcept;

  /// The index of bit i among all bits of the words, as in CounterArray: i itself.
  static constexpr std::uint64_t locate(std::uint64_t i) noexcept { return i; }

  void prefetch_for_read(std::uint64_t i) const noexcept {
    detail::prefetch_for_read(words_.data() + i / 64);
  }
  void prefetch_for_write(std::uint64_t i) const noexcept {
    detail::prefetch_for_write(words_.data() + i / 64);
  }

  std::span<const std::uint64_t> words() const noexcept { return words_.words(); }
  std::span<std::uint64_t> words() noexcept { return words_.words(); }

  friend bool operator==(const BitArray& a, const BitArray& b) noexcept {
    return a.num_bits_ == b.num_bits_ && a.words_ == b.words_;
  }

 private:
  static constexpr std::uint32_t words_per_line = positions_per_line / 64;

  detail::AlignedWords words_;
  std::uint64_t num_bits_;
};

}  // namespace tally

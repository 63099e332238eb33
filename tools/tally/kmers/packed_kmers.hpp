#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace tally::cli {

inline constexpr std::size_t bases_per_word = 32;

/// Two bits per base, the first base highest, so that k-mers of one length have the order of their texts.
template <std::size_t NumWords>
using PackedKmer = std::array<std::uint64_t, NumWords>;

template <std::size_t NumWords>
PackedKmer<NumWords> pack_kmer(std::string_view kmer) {
  PackedKmer<NumWords> packed{};
  for (std::size_t i = 0; i < kmer.size(); ++i) {
    const auto letter = static_cast<std::uint64_t>(kmer[i]);
    const std::uint64_t code = (letter >> 1 ^ letter >> 2) & 3;  // of the ASCII codes of A, C, G and T
    packed[i / bases_per_word] |= code << (62 - i % bases_per_word * 2);
  }
  return packed;
}

/// The text of a k-mer.
template <std::size_t NumWords>
class KmerText {
 public:
  explicit KmerText(std::size_t length) : length_(length) {}

  /// Valid until the next call.
  std::string_view of(const PackedKmer<NumWords>& packed) {
    static constexpr std::array<std::array<char, 4>, 256> bases_of_byte = make_bases();
    for (std::size_t i = 0; i < letters_.size(); i += 4) {
      const std::uint64_t byte = packed[i / bases_per_word] >> (56 - i % bases_per_word * 2) & 0xff;
      std::memcpy(letters_.data() + i, bases_of_byte[byte].data(), 4);
    }
    return {letters_.data(), length_};
  }

  /// That of an exact entry of KmerScanner; valid until the next call.
  std::string_view of_entry(std::uint64_t entry) requires(NumWords == 1) {
    return of({(entry - 1) << (2 * (bases_per_word - length_))});
  }

 private:
  static constexpr std::array<std::array<char, 4>, 256> make_bases() {
    std::array<std::array<char, 4>, 256> bases{};
    for (std::size_t byte = 0; byte < 256; ++byte)
      for (std::size_t i = 0; i < 4; ++i) bases[byte][i] = "ACGT"[byte >> (6 - 2 * i) & 3];
    return bases;
  }

  std::size_t length_;
  std::array<char, NumWords * bases_per_word> letters_{};
};

/// The k-mers that one thread was the first to report, in chunks that may be a fifth empty.
template <std::size_t NumWords>
class PackedKmers {
 public:
  using Chunk = std::vector<PackedKmer<NumWords>>;
  /// At most, with what is empty; and once for the first chunk.
  static constexpr std::uint64_t bytes_per_kmer = 8 * NumWords * 5 / 4;
  static constexpr std::uint64_t first_bytes = 32 * 8 * NumWords;

  /// Throws std::bad_alloc, and then changes nothing.
  void add(std::string_view kmer) {
    if (chunks_.empty() || chunks_.back().size() == chunks_.back().capacity()) {
      Chunk chunk;
      chunk.reserve(std::clamp(capacity_ / 4, std::size_t{32}, std::size_t{1} << 16));
      chunks_.push_back(std::move(chunk));
      capacity_ += chunks_.back().capacity();
    }
    chunks_.back().push_back(pack_kmer<NumWords>(kmer));
  }

  std::uint64_t num_bytes() const noexcept { return capacity_ * sizeof(PackedKmer<NumWords>); }
  std::vector<Chunk> release() { return std::move(chunks_); }

 private:
  std::vector<Chunk> chunks_;
  std::size_t capacity_ = 0;
};

}  // namespace tally::cli

#pragma once

#include <array>
#include <atomic>
#include <bit>
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

/// The k-mers that one thread was the first to report, in chunks. Several threads draw on one limit of memory.
template <std::size_t NumWords>
class PackedKmers {
 public:
  using Chunk = std::vector<PackedKmer<NumWords>>;

  /// `bytes_left` must outlive this object.
  explicit PackedKmers(std::atomic<std::uint64_t>& bytes_left) : bytes_left_(&bytes_left) {}

  /// Makes room for one more k-mer; false if the memory is used up. Throws std::bad_alloc.
  bool reserve_one() {
    if (!chunks_.empty() && chunks_.back().size() < chunks_.back().capacity()) return true;
    std::size_t size = chunks_.empty() ? least_chunk : std::min(most_chunk, 2 * chunks_.back().capacity());
    while (!take(size * sizeof(PackedKmer<NumWords>))) {
      size /= 2;
      if (size < least_chunk) return false;
    }
    chunks_.emplace_back().reserve(size);
    return true;
  }
  /// After reserve_one().
  void add(std::string_view kmer) { chunks_.back().push_back(pack_kmer<NumWords>(kmer)); }

  std::vector<Chunk> release() { return std::move(chunks_); }

 private:
  static constexpr std::size_t least_chunk = 32;
  static constexpr std::size_t most_chunk = std::size_t{1} << 16;

  bool take(std::uint64_t num_bytes) {
    std::uint64_t left = *bytes_left_;
    while (left >= num_bytes) {
      if (bytes_left_->compare_exchange_weak(left, left - num_bytes)) return true;
    }
    return false;
  }

  std::atomic<std::uint64_t>* bytes_left_;
  std::vector<Chunk> chunks_;
};

}  // namespace tally::cli

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tally/detail/parameter_error.hpp"
#include "tally/export.hpp"

namespace tally {

inline constexpr std::uint32_t max_kmer_length = 127;
/// Up to this length a k-mer has 62 bits, and an entry of 64 bits represents it uniquely.
inline constexpr std::uint32_t max_exact_kmer_length = 31;

/// Upper case for A, C, G and T of either case, '\n' for bytes that end a window, 0 for white space inside a
/// sequence.
TALLY_EXPORT extern const std::array<char, 256> base_of_byte;

/// The sequence as KmerScanner takes it: what base_of_byte gives for each byte, without white space.
TALLY_EXPORT std::string bases_of(std::string_view sequence);

/// Whether a k-mer and its reverse complement are treated as the same.
enum class Strands : std::uint8_t { one, both };

/// The k-mers of a text of bases, in order: with Strands::both the canonical form of each, which is the
/// lexicographically smaller of it and its reverse complement.
///
/// Both strands are updated base by base, two bits per base, so that a k-mer costs a few operations for any
/// k. The texts point into the bases or into their reverse complement, which is computed once for all of
/// them.
class TALLY_EXPORT KmerScanner {
 public:
  static constexpr std::size_t max_kmers_per_call = 1024;

  /// `kmer_length` is 1 to max_kmer_length.
  KmerScanner(std::uint32_t kmer_length, Strands strands) : kmer_length_(kmer_length), strands_(strands) {}

  /// `bases` are A, C, G and T; any other byte ends the window. They must stay valid until the last k-mer is
  /// returned. Throws std::bad_alloc, and then changes nothing.
  void start(std::string_view bases);

  /// The next k-mers as text, at most max_kmers_per_call; empty at the end. They are valid until the next
  /// `start`.
  std::span<const std::string_view> next();

  /// For the k-mers of the last `next`: 1 followed by two bits per base, the first base highest. For k-mers
  /// of at most max_exact_kmer_length bases.
  std::span<const std::uint64_t> entries() const { return {entries_.data(), num_kmers_}; }

 private:
  __extension__ using Bits128 = unsigned __int128;
  struct Bases {  // two bits each, the last one lowest
    Bits128 low = 0;
    Bits128 high = 0;
  };
  struct Bits256;

  template <class Bits>
  static Bits from_bases(const Bases& bases);
  template <class Bits>
  void scan();

  std::uint32_t kmer_length_;
  Strands strands_;

  std::string_view bases_;
  std::string reverse_complement_;
  std::size_t next_base_ = 0;
  std::uint32_t window_ = 0;  // bases since the window began, at most kmer_length_
  Bases forward_;
  Bases backward_;

  std::array<std::string_view, max_kmers_per_call> kmers_;
  std::array<std::uint64_t, max_kmers_per_call> entries_;
  std::size_t num_kmers_ = 0;
};

/// Calls use(kmer) with every k-mer of a sequence, in order, as a std::string_view of `kmer_length` upper-case letters that
/// is valid during the call: a key for every structure. A, C, G and T count in either case, white space is skipped, and
/// any other byte, such as N, is in no k-mer. With Strands::both, a k-mer and its reverse complement are one key.
///
/// For each of many sequences, a KmerScanner spares the copies. Throws std::invalid_argument unless kmer_length is 1 to
/// max_kmer_length, and std::bad_alloc.
template <class Use>
void for_each_kmer(std::string_view sequence, std::uint32_t kmer_length, Strands strands, Use use) {
  detail::require_in_range("for_each_kmer", "kmer_length", kmer_length, 1, max_kmer_length);
  const std::string bases = bases_of(sequence);
  KmerScanner scanner(kmer_length, strands);
  scanner.start(bases);
  for (std::span<const std::string_view> kmers = scanner.next(); !kmers.empty(); kmers = scanner.next())
    for (const std::string_view kmer : kmers) use(kmer);
}

}  // namespace tally

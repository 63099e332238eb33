#include "tally/hashing/kmer_scanner.hpp"

#include <type_traits>

namespace tally {
namespace {

constexpr std::uint8_t no_base = 4;

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(no_base);
  codes['A'] = 0;
  codes['C'] = 1;
  codes['G'] = 2;
  codes['T'] = 3;
  return codes;
}
constexpr std::array<std::uint8_t, 256> code_of_base = make_codes();

constexpr std::array<char, 256> make_bases() {
  std::array<char, 256> bases{};
  bases.fill('\n');
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) bases[static_cast<unsigned char>(c)] = '\0';
  for (const char c : {'A', 'C', 'G', 'T'}) bases[static_cast<unsigned char>(c)] = c;
  bases['a'] = 'A';
  bases['c'] = 'C';
  bases['g'] = 'G';
  bases['t'] = 'T';
  return bases;
}

constexpr std::uint8_t code(char base) { return code_of_base[static_cast<unsigned char>(base)]; }

}  // namespace

const std::array<char, 256> base_of_byte = make_bases();

std::string bases_of(std::string_view sequence) {
  std::string bases;
  bases.reserve(sequence.size());
  for (const char letter : sequence) {
    const char base = base_of_byte[static_cast<unsigned char>(letter)];
    if (base != '\0') bases.push_back(base);
  }
  return bases;
}

void KmerScanner::start(std::string_view bases) {
  if (strands_ == Strands::both) reverse_complement_.resize(bases.size());
  bases_ = bases;
  next_base_ = 0;
  window_ = 0;
  num_kmers_ = 0;
  if (strands_ == Strands::one) return;
  char* out = reverse_complement_.data() + bases.size();
  for (const char base : bases) *--out = "TGCA\n"[code(base)];
}

std::span<const std::string_view> KmerScanner::next() {
  num_kmers_ = 0;
  if (kmer_length_ <= 32) {
    scan<std::uint64_t>();
  } else if (kmer_length_ <= 64) {
    scan<Bits128>();
  } else {
    scan<Bits256>();
  }
  return {kmers_.data(), num_kmers_};
}

/// The operations of `scan` on 256 bits.
struct KmerScanner::Bits256 : Bases {
  constexpr Bits256(Bits128 low_bits = 0) : Bases{low_bits, 0} {}
  constexpr explicit Bits256(const Bases& bases) : Bases(bases) {}
  constexpr Bits256(Bits128 low_bits, Bits128 high_bits) : Bases{low_bits, high_bits} {}

  friend constexpr Bits256 operator<<(Bits256 a, std::uint32_t shift) {
    if (shift == 0) return a;
    if (shift >= 128) return {0, a.low << (shift - 128)};
    return {a.low << shift, a.high << shift | a.low >> (128 - shift)};
  }
  friend constexpr Bits256 operator>>(Bits256 a, std::uint32_t shift) {
    return {a.low >> shift | a.high << (128 - shift), a.high >> shift};  // of 1 to 127
  }
  friend constexpr Bits256 operator|(Bits256 a, Bits256 b) { return {a.low | b.low, a.high | b.high}; }
  friend constexpr Bits256 operator&(Bits256 a, Bits256 b) { return {a.low & b.low, a.high & b.high}; }
  friend constexpr Bits256 operator~(Bits256 a) { return {~a.low, ~a.high}; }
  friend constexpr bool operator<=(Bits256 a, Bits256 b) {
    return a.high < b.high || (a.high == b.high && a.low <= b.low);
  }
};

template <class Bits>
Bits KmerScanner::from_bases(const Bases& bases) {
  if constexpr (std::is_same_v<Bits, Bits256>) {
    return Bits256(bases);
  } else {
    return static_cast<Bits>(bases.low);
  }
}

template <class Bits>
void KmerScanner::scan() {
  const std::uint32_t k = kmer_length_;
  const std::uint32_t top = 2 * (k - 1);
  const Bits mask = static_cast<Bits>(~Bits{0}) >> static_cast<std::uint32_t>(8 * sizeof(Bits) - 2 * k);
  const bool both = strands_ == Strands::both;
  const char* const bases = bases_.data();
  const char* const reverse_end = (both ? reverse_complement_.data() : bases) + bases_.size();
  Bits forward = from_bases<Bits>(forward_);
  Bits backward = from_bases<Bits>(backward_);
  std::uint32_t window = window_;
  std::size_t i = next_base_;
  std::size_t count = 0;
  for (; i < bases_.size() && count < max_kmers_per_call; ++i) {
    const std::uint8_t base = code(bases[i]);
    if (base == no_base) {
      window = 0;
      continue;
    }
    forward = (forward << 2 | Bits{base}) & mask;
    backward = backward >> 2 | static_cast<Bits>(static_cast<std::uint64_t>(3 - base)) << top;
    window += window < k;
    // Chooses without a branch on the order of the two strands, which would often be mispredicted.
    const bool is_forward = !both || forward <= backward;
    const std::size_t end = i + 1;
    const char* const own = bases + (end < k ? 0 : end - k);
    const char* const other = reverse_end - end;
    kmers_[count] = {is_forward ? own : other, k};
    if constexpr (sizeof(Bits) == 8) entries_[count] = 1 + (is_forward ? forward : backward);
    count += window == k;
  }
  forward_ = Bits256(forward);
  backward_ = Bits256(backward);
  window_ = window;
  next_base_ = i;
  num_kmers_ = count;
}

}  // namespace tally

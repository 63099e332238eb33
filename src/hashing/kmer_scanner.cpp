#include "tally/hashing/kmer_scanner.hpp"

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
  } else {
    scan<Bits128>();
  }
  return {kmers_.data(), num_kmers_};
}

template <class Bits>
void KmerScanner::scan() {
  const std::uint32_t k = kmer_length_;
  const std::uint32_t top = 2 * (k - 1);
  const Bits mask = static_cast<Bits>(~Bits{0}) >> (8 * sizeof(Bits) - 2 * k);
  const bool both = strands_ == Strands::both;
  const char* const bases = bases_.data();
  const char* const reverse_end = (both ? reverse_complement_.data() : bases) + bases_.size();
  auto forward = static_cast<Bits>(forward_);
  auto backward = static_cast<Bits>(backward_);
  std::uint32_t window = window_;
  std::size_t i = next_base_;
  std::size_t count = 0;
  for (; i < bases_.size() && count < max_kmers_per_call; ++i) {
    const std::uint8_t base = code(bases[i]);
    if (base == no_base) {
      window = 0;
      continue;
    }
    forward = (forward << 2 | base) & mask;
    backward = backward >> 2 | static_cast<Bits>(3 - base) << top;
    window += window < k;
    // Chooses without a branch on the order of the two strands, which would often be mispredicted.
    const bool is_forward = !both || forward <= backward;
    const std::size_t end = i + 1;
    const char* const own = bases + (end < k ? 0 : end - k);
    const char* const other = reverse_end - end;
    kmers_[count] = {is_forward ? own : other, k};
    entries_[count] = 1 + static_cast<std::uint64_t>(is_forward ? forward : backward);
    count += window == k;
  }
  forward_ = forward;
  backward_ = backward;
  window_ = window;
  next_base_ = i;
  num_kmers_ = count;
}

}  // namespace tally

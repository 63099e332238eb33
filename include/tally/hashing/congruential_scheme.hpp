#pragma once

#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// The successive states of a linear congruential generator of the key's own:
///
///     x_0 = low,   x_{i+1} = a x_i + (high | 1)   mod 2^64
///
/// with a = 0xd1342543de82ef95, which is 1 modulo 4. With an odd increment this generator has the full period
/// 2^64 (Hull and Dobell) for every key. So no key has two equal states among its k, and there is no
/// degenerate step like h2 = 0 in double hashing. Each state takes one multiplication and one addition. The
/// multiplier is from the tables of Steele and Vigna, "Computationally easy, spectrally good multipliers for
/// congruential pseudorandom number generators".
class CongruentialSequence {
 public:
  constexpr CongruentialSequence(std::uint64_t start, std::uint64_t increment) noexcept
      : state_(start), increment_(increment | 1) {}

  constexpr std::uint64_t next() noexcept {
    const std::uint64_t current = state_;
    state_ = state_ * 0xd1342543de82ef95u + increment_;
    return current;
  }

 private:
  std::uint64_t state_;
  std::uint64_t increment_;
};

/// Positions of the production default: the high bits of a CongruentialSequence.
///
/// Over random digests, any two positions i < j of a key are uniform and independent up to 2^-50: x_j is a
/// fixed multiple of x_0 plus a multiple of the increment by 2^v times an odd number, where 2^v is the
/// largest power of two in j - i, at most 2^9. So two keys that agree in one position agree in a second one
/// no more often than with k independent hashes. The limit theorem requires no more than that (Kirsch and
/// Mitzenmacher, Theorem 4.1), and, unlike with double hashing, it also holds at small m.
class CongruentialScheme {
 public:
  static constexpr std::string_view name = "congruential";
  static constexpr std::uint16_t file_id = 1;
  static constexpr PositionLayout layout = PositionLayout::whole;
  static constexpr PositionLaw law = PositionLaw::independent;

  static std::uint64_t round_positions(PositionSpace space, Rounding) noexcept { return space.num_positions; }

  explicit CongruentialScheme(PositionSpace space) noexcept
      : num_positions_(space.num_positions), num_hashes_(space.num_hashes) {}

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    CongruentialSequence sequence(hash.low, hash.high);
    // Copies, because as far as the compiler knows, `visit` could write to this object.
    const std::uint64_t num_positions = num_positions_;
    const std::uint32_t num_hashes = num_hashes_;
    for (std::uint32_t i = 0; i < num_hashes; ++i) {
      if (!visit(reduce_to_range(sequence.next(), num_positions))) return false;
    }
    return true;
  }

 private:
  std::uint64_t num_positions_;
  std::uint32_t num_hashes_;
};

/// The default scheme of every structure.
using DefaultScheme = CongruentialScheme;

}  // namespace tally

#pragma once

#include "tally/export.hpp"
#include "tally/hashing/hash_scheme.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/hashing/range_reduction.hpp"

namespace tally {

/// Iterates over the residues modulo m of a polynomial of degree at most 3, using its differences.
class ModularSequence {
 public:
  /// Every start value is reduced modulo m; m is at most 2^63.
  constexpr ModularSequence(std::uint64_t m, std::uint64_t value, std::uint64_t step, std::uint64_t second,
                            std::uint64_t third) noexcept
      : m_(m), value_(value % m), step_(step % m), second_(second % m), third_(third % m) {}

  constexpr std::uint64_t next() noexcept {
    const std::uint64_t current = value_;
    value_ = add(value_, step_);
    step_ = add(step_, second_);
    second_ = add(second_, third_);
    return current;
  }

 private:
  constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) const noexcept {
    const std::uint64_t sum = a + b;
    return sum >= m_ ? sum - m_ : sum;
  }

  std::uint64_t m_, value_, step_, second_, third_;
};

/// The common part of the schemes in this file: position i is a polynomial in i modulo m, with coefficients
/// from two or three hash values that are uniform on [m]:
///
///     double                       h1 + i h2
///     enhanced double, quadratic   h1 + i h2 + i^2
///     enhanced double, cubic       h1 + i h2 + i^3
///     triple                       h1 + i h2 + (i (i - 1) / 2) h3
///
/// Known flaw, kept because experiments need it: h2 = 0, or an h2 that shares a large factor with m, makes
/// positions repeat (less so with the enhanced schemes). This costs a small filter much of its accuracy.
/// CongruentialScheme has no such step.
/// Source: Kirsch and Mitzenmacher 2008, Section 5; triple: Dillinger and Manolios 2004.
template <class Polynomial>
class DoubleSchemeFamily {
 public:
  static constexpr std::string_view name = Polynomial::name;
  static constexpr std::uint16_t file_id = Polynomial::file_id;
  static constexpr PositionLayout layout = PositionLayout::whole;
  static constexpr PositionLaw law = Polynomial::law;

  static std::uint64_t round_positions(PositionSpace space, Rounding) noexcept { return space.num_positions; }

  explicit DoubleSchemeFamily(PositionSpace space) noexcept
      : num_positions_(space.num_positions), num_hashes_(space.num_hashes) {}

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    ModularSequence sequence = Polynomial::sequence(num_positions_, hash);
    for (std::uint32_t i = 0; i < num_hashes_; ++i) {
      if (!visit(sequence.next())) return false;
    }
    return true;
  }

 private:
  std::uint64_t num_positions_;
  std::uint32_t num_hashes_;
};

/// Plain double hashing: position i is h1 + i h2 modulo m.
struct DoublePolynomial {
  static constexpr std::string_view name = "double";
  static constexpr std::uint16_t file_id = 5;
  static constexpr PositionLaw law = PositionLaw::plain_double;
  static constexpr ModularSequence sequence(std::uint64_t m, Hash128 hash) noexcept {
    return {m, reduce_to_range(hash.low, m), reduce_to_range(hash.high, m), 0, 0};
  }
};

/// Enhanced double hashing: position i is h1 + i h2 + i^2 modulo m.
struct EnhancedQuadraticPolynomial {
  static constexpr std::string_view name = "enhanced-double-quadratic";
  static constexpr std::uint16_t file_id = 6;
  static constexpr PositionLaw law = PositionLaw::quadratic_double;
  static constexpr ModularSequence sequence(std::uint64_t m, Hash128 hash) noexcept {
    return {m, reduce_to_range(hash.low, m), reduce_to_range(hash.high, m) + 1, 2, 0};
  }
};

/// Enhanced double hashing: position i is h1 + i h2 + i^3 modulo m.
struct EnhancedCubicPolynomial {
  static constexpr std::string_view name = "enhanced-double-cubic";
  static constexpr std::uint16_t file_id = 7;
  static constexpr PositionLaw law = PositionLaw::cubic_double;
  static constexpr ModularSequence sequence(std::uint64_t m, Hash128 hash) noexcept {
    return {m, reduce_to_range(hash.low, m), reduce_to_range(hash.high, m) + 1, 6, 6};
  }
};

/// Triple hashing: position i is h1 + i h2 + (i (i - 1) / 2) h3 modulo m.
struct TriplePolynomial {
  static constexpr std::string_view name = "triple";
  static constexpr std::uint16_t file_id = 8;
  static constexpr PositionLaw law = PositionLaw::triple;
  static constexpr ModularSequence sequence(std::uint64_t m, Hash128 hash) noexcept {
    return {m, reduce_to_range(hash.low, m), reduce_to_range(hash.high, m),
            reduce_to_range(independent_hash(hash, 0), m), 0};
  }
};

using DoubleScheme = DoubleSchemeFamily<DoublePolynomial>;
using EnhancedDoubleQuadraticScheme = DoubleSchemeFamily<EnhancedQuadraticPolynomial>;
using EnhancedDoubleCubicScheme = DoubleSchemeFamily<EnhancedCubicPolynomial>;
using TripleScheme = DoubleSchemeFamily<TriplePolynomial>;

/// Position i is h1 + i h2 modulo p in the i-th of k parts of p positions, p prime. Two keys that agree in
/// two positions then agree in all, which makes the false positive probability computable at finite n
/// (theory/partition_double.hpp). Known flaw: because of that agreement, with probability 1/p^2 per pair of
/// keys, this is the worst scheme of all when the filter is small.
/// Source: Kirsch and Mitzenmacher 2008, Section 3.
class TALLY_EXPORT PartitionDoubleScheme {
 public:
  static constexpr std::string_view name = "partition-double";
  static constexpr std::uint16_t file_id = 9;
  static constexpr PositionLayout layout = PositionLayout::parts;
  static constexpr PositionLaw law = PositionLaw::partition_double;

  /// The number of hashes times a prime.
  static std::uint64_t round_positions(PositionSpace space, Rounding rounding);

  explicit PartitionDoubleScheme(PositionSpace space) noexcept
      : part_size_(space.num_positions / space.num_hashes), num_hashes_(space.num_hashes) {}

  template <class Visit>
  bool all_positions(Hash128 hash, Visit visit) const noexcept {
    ModularSequence sequence = DoublePolynomial::sequence(part_size_, hash);
    for (std::uint32_t i = 0; i < num_hashes_; ++i) {
      if (!visit(i * part_size_ + sequence.next())) return false;
    }
    return true;
  }

 private:
  std::uint64_t part_size_;
  std::uint32_t num_hashes_;
};

}  // namespace tally

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tally/export.hpp"
#include "tally/shapes/filter.hpp"
#include "tally/theory/double_hashing.hpp"

namespace tally {

/// How accurate the predicted rate of a scheme is at this size.
enum class LawKind : std::uint8_t {
  exact,  ///< holds at every size: a measurement outside its limits contradicts it
  limit  ///< an expansion for large filters, or the limit as the filter grows at the same number of bits per key; a
         ///< measurement of a small filter may differ
};

TALLY_EXPORT std::string_view name_of(LawKind kind) noexcept;

/// The predicted false positive rate of a scheme, and how accurate it is.
struct SchemeLaw {
  double ln_false_positive_rate = 0;
  LawKind kind = LawKind::exact;
};

/// The false positive rate of a Bloom filter with a scheme, by the best known law that takes at most `most_steps`
/// steps (a few nanoseconds each):
///
///     congruential, standard   the occupancy law of independent positions, or its expansion (theory/bloom.hpp)
///     partitioned              the law of independent parts
///     partition-double         the formula of Kirsch and Mitzenmacher, section 3
///     blocked                  the mixture over lines (theory/blocked_bloom.hpp)
///     register-blocked         the mixture over lines of words (theory/register_bloom.hpp)
///     double, enhanced double, triple
///                              by counting all pairs of hash values (theory/double_hashing.hpp) if that is possible,
///                              else an expansion (theory/double_hashing_expansion.hpp)
///
/// @param scheme_id  file_id of one of AllSchemes
/// @param m          bits, a number that the scheme can use
/// @throws std::invalid_argument for an unknown scheme, and for m, k or n out of the range of the law
TALLY_EXPORT SchemeLaw false_positive_law(std::uint16_t scheme_id, std::uint64_t m, std::uint32_t k,
                                          std::uint64_t n, double most_steps = 0x1p26);

/// The same for a filter of any kind with this number of distinct keys, each inserted once: the rate of may_contain. For a
/// blocked counting Bloom filter the mixture over lines, for d-left filters the law of their fingerprints
/// (theory/dleft_fingerprints.hpp). Also throws std::invalid_argument for a sketch and for an impossible shape.
TALLY_EXPORT SchemeLaw false_positive_law(const FilterShape& shape, std::uint64_t num_keys,
                                          double most_steps = 0x1p26);

/// The member of theory::DoubleHashing that the scheme is, if it is one. PartitionDoubleScheme is `partition`.
TALLY_EXPORT std::optional<theory::DoubleHashing> double_hashing_of(std::uint16_t scheme_id) noexcept;

}  // namespace tally

#include "tally/planner/scheme_law.hpp"

#include <cmath>

#include "planner/search.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/double_hashing_expansion.hpp"
#include "tally/theory/partition_double.hpp"
#include "tally/theory/register_bloom.hpp"

namespace tally {
namespace {

constexpr std::uint32_t most_hashes_counted = 16;
constexpr std::uint64_t most_bits_counted = std::uint64_t{1} << 32;
constexpr double least_rate_counted = 1e-12;  // the sums of double_hashing.hpp have an error of about 1e-14

SchemeLaw independent_positions(std::uint64_t m, std::uint32_t k, std::uint64_t n, double most_steps) {
  const double squared = static_cast<double>(k) * k;
  if (squared * static_cast<double>(n) <= most_steps)
    return {theory::ln_false_positive_probability_occupancy(m, k, n), LawKind::exact};
  // The expansion leaves out terms of order k^4 / m^3.
  const double size = static_cast<double>(m);
  const bool is_accurate = squared * squared <= 1e-3 * size * size * size;
  return {theory::ln_false_positive_probability_expansion(m, k, n),
          is_accurate ? LawKind::exact : LawKind::limit};
}

}  // namespace

std::string_view name_of(LawKind kind) noexcept { return kind == LawKind::exact ? "exact" : "limit"; }

std::optional<theory::DoubleHashing> planner_detail::double_hashing_of(PositionLaw law) noexcept {
  switch (law) {
    case PositionLaw::plain_double:
      return theory::DoubleHashing::plain;
    case PositionLaw::quadratic_double:
      return theory::DoubleHashing::quadratic;
    case PositionLaw::cubic_double:
      return theory::DoubleHashing::cubic;
    case PositionLaw::triple:
      return theory::DoubleHashing::triple;
    case PositionLaw::partition_double:
      return theory::DoubleHashing::partition;
    case PositionLaw::independent:
    case PositionLaw::parts:
    case PositionLaw::lines:
    case PositionLaw::words:
      break;
  }
  return std::nullopt;
}

std::optional<theory::DoubleHashing> double_hashing_of(std::uint16_t scheme_id) noexcept {
  std::optional<theory::DoubleHashing> found;
  AllSchemes::with_id(scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    found = planner_detail::double_hashing_of(Scheme::law);
  });
  return found;
}

SchemeLaw false_positive_law(std::uint16_t scheme_id, std::uint64_t m, std::uint32_t k, std::uint64_t n,
                             double most_steps) {
  const PositionLaw law = position_law(scheme_id);
  if (law == PositionLaw::lines) {
    constexpr std::uint32_t B = BitArray::positions_per_line;
    return {theory::ln_blocked_bloom_false_positive_probability(m / B, B, k, n), LawKind::exact};
  }
  if (law == PositionLaw::words) {
    constexpr std::uint32_t num_words = RegisterBlockedScheme::words_per_line;
    constexpr std::uint32_t B = BitArray::positions_per_line;
    return {theory::ln_register_bloom_false_positive_probability(m / B, num_words, B / num_words, k, n),
            LawKind::exact};
  }
  if (law == PositionLaw::parts)
    return {theory::ln_false_positive_probability_partitioned(m, k, n), LawKind::exact};
  if (law == PositionLaw::partition_double && m / k >= k)
    return {theory::ln_partition_double_false_positive_probability(m / k, k, n), LawKind::exact};
  if (const auto scheme = planner_detail::double_hashing_of(law)) {
    if (k <= most_hashes_counted && m <= most_bits_counted &&
        theory::double_hashing_num_steps(*scheme, m, k) <= most_steps) {
      const double rate = theory::double_hashing_false_positive_probability(*scheme, m, k, n);
      if (rate >= least_rate_counted || n == 0) return {std::log(rate), LawKind::exact};
    }
    return {theory::ln_double_hashing_false_positive_probability_expansion(*scheme, m, k, n), LawKind::limit};
  }
  return independent_positions(m, k, n, most_steps);
}

SchemeLaw false_positive_law(const FilterShape& shape, std::uint64_t num_keys, double most_steps) {
  check_shape(shape);
  if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
    const FingerprintSpace space = dleft->fingerprint_space();
    return {theory::ln_dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys),
            LawKind::exact};
  }
  if (const auto* compact = std::get_if<CompactDLeftShape>(&shape.shape)) {
    return {theory::ln_dleft_false_positive_probability(compact->num_lines_per_subtable,
                                                        compact->fingerprints_per_line(), num_keys),
            LawKind::exact};
  }
  if (shape.kind() == FilterKind::blocked_counting_bloom) {
    const std::uint32_t B = CounterArray::positions_per_line(shape.counter_bits());
    return {theory::ln_blocked_bloom_false_positive_probability(shape.num_positions() / B, B,
                                                                shape.num_hashes(), num_keys),
            LawKind::exact};
  }
  if (shape.kind() == FilterKind::count_min)
    detail::throw_parameter_error("false_positive_law", "kind", name_of(shape.kind()), "that of a filter");
  return false_positive_law(shape.scheme_id, shape.num_positions(), shape.num_hashes(), num_keys, most_steps);
}

}  // namespace tally

#include "tally/any_filter/similarity.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/register_blocked_scheme.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/confidence.hpp"

namespace tally {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The counters of a word that are above 0, one bit each.
class NonzeroCounters {
 public:
  explicit NonzeroCounters(std::uint32_t counter_bits) : counter_bits_(counter_bits) {
    for (std::uint32_t at = 0; at + counter_bits <= 64; at += counter_bits)
      lowest_bits_ |= std::uint64_t{1} << at;
  }

  std::uint64_t operator()(std::uint64_t word) const {
    std::uint64_t any = word;
    for (std::uint32_t bit = 1; bit < counter_bits_; ++bit) any |= word >> bit;
    return any & lowest_bits_;
  }

 private:
  std::uint32_t counter_bits_;
  std::uint64_t lowest_bits_ = 0;
};

LimitedEstimate limited(const theory::Estimate& estimate, double deviations, double most) {
  if (!(estimate.value < infinity)) return {infinity, 0, infinity};
  if (!(estimate.standard_error < infinity)) return {estimate.value, 0, most};
  const double width = deviations * estimate.standard_error;
  return {estimate.value, std::clamp(estimate.value - width, 0.0, most),
          std::clamp(estimate.value + width, 0.0, most)};
}

}  // namespace

theory::OccupiedPositions detail::occupied_positions(const FilterView& a, const FilterView& b) {
  const NonzeroCounters nonzero(a.shape.counter_bits());
  theory::OccupiedPositions occupied;
  for (std::size_t i = 0; i < a.words.size(); ++i) {
    const std::uint64_t in_a = nonzero(a.words[i]);
    const std::uint64_t in_b = nonzero(b.words[i]);
    occupied.a += static_cast<std::uint64_t>(std::popcount(in_a));
    occupied.b += static_cast<std::uint64_t>(std::popcount(in_b));
    occupied.either += static_cast<std::uint64_t>(std::popcount(in_a | in_b));
  }
  return occupied;
}

void detail::require_comparable(const FilterView& a, const FilterView& b) {
  constexpr std::string_view function = "estimate_similarity";
  require_same(function, "kind", name_of(a.shape.kind()), name_of(b.shape.kind()));
  require_same(function, "scheme", a.shape.scheme_name(), b.shape.scheme_name());
  require_same_hasher(function, a.hasher, b.hasher);
  if (const auto* const dleft = std::get_if<DLeftShape>(&a.shape.shape))
    return require_same_fingerprints(*dleft, std::get<DLeftShape>(b.shape.shape));
  if (const auto* const compact = std::get_if<CompactDLeftShape>(&a.shape.shape))
    return require_same_fingerprints(*compact, std::get<CompactDLeftShape>(b.shape.shape));
  require_same(function, "number of positions", a.shape.num_positions(), b.shape.num_positions());
  require_same(function, "num_hashes", a.shape.num_hashes(), b.shape.num_hashes());
  require_same(function, "counter_bits", a.shape.counter_bits(), b.shape.counter_bits());
}

SetSimilarity detail::similarity_of(const FilterView& filter, const theory::OccupiedPositions& occupied,
                                    double confidence) {
  const FilterShape& shape = filter.shape;
  theory::SimilarityEstimate found;
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) {
    const FingerprintSpace space = dleft->fingerprint_space();
    found = theory::estimate_similarity(space.num_buckets * space.num_remainders(), 1, occupied);
  } else if (const auto* const compact = std::get_if<CompactDLeftShape>(&shape.shape)) {
    const auto num_fingerprints = static_cast<std::uint64_t>(compact->num_fingerprints());
    found = theory::estimate_similarity(num_fingerprints, 1, occupied);
  } else if (shape.scheme_id == RegisterBlockedScheme::file_id) {
    constexpr std::uint32_t num_words = RegisterBlockedScheme::words_per_line;
    constexpr std::uint32_t word_bits = 64;
    found = theory::estimate_similarity_register_blocked(shape.num_positions() / num_words / word_bits,
                                                         num_words, word_bits, shape.num_hashes(), occupied);
  } else if (is_blocked(shape.kind())) {
    const std::uint32_t in_line = CounterArray::positions_per_line(shape.counter_bits());
    found = theory::estimate_similarity_blocked(shape.num_positions() / in_line, in_line, shape.num_hashes(),
                                                occupied);
  } else {
    found = theory::estimate_similarity(shape.num_positions(), shape.num_hashes(), occupied);
  }
  const double deviations = theory::normal_deviations(confidence);
  return {.num_keys_a = limited(found.num_keys_a, deviations, infinity),
          .num_keys_b = limited(found.num_keys_b, deviations, infinity),
          .union_size = limited(found.union_size, deviations, infinity),
          .intersection_size = limited(found.intersection_size, deviations, infinity),
          .jaccard = limited(found.jaccard, deviations, 1),
          .containment_a = limited(found.containment_a, deviations, 1),
          .containment_b = limited(found.containment_b, deviations, 1)};
}

SetSimilarity estimate_similarity(const AnyFilter& a, const AnyFilter& b, double confidence) {
  detail::require_comparable(a, b);
  return a.visit([&]<class F>(const F& own) { return estimate_similarity(own, *b.get_if<F>(), confidence); });
}

}  // namespace tally

#include "tally/filters/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "tally/hashing/register_blocked_scheme.hpp"
#include "tally/theory/estimate.hpp"
#include "tally/theory/similarity.hpp"

namespace tally {
namespace {

constexpr std::uint32_t num_words = RegisterBlockedScheme::words_per_line;

// The number of positions in [begin, end) that hold at least `value`.
std::uint64_t num_at_least(const BitArray& bits, std::uint64_t, std::uint64_t begin, std::uint64_t end) {
  return bits.num_set(begin, end);
}
std::uint64_t num_at_least(const CounterArray& counters, std::uint64_t value, std::uint64_t begin,
                           std::uint64_t end) {
  return counters.num_at_least(value, begin, end);
}

// The probability that a new key reaches `value` in all its positions, given the contents of the storage.
// Exact for schemes whose positions are uniform and independent within their range.
template <class Storage>
double pass_probability(const Storage& storage, PositionLayout layout, PositionSpace space,
                        std::uint64_t value) {
  const auto share = [&](std::uint64_t begin, std::uint64_t end) {
    return static_cast<double>(num_at_least(storage, value, begin, end)) / static_cast<double>(end - begin);
  };
  const double k = space.num_hashes;
  if (layout == PositionLayout::whole) return std::pow(share(0, space.num_positions), k);
  if (layout == PositionLayout::words) {
    const std::uint64_t word_size = space.positions_per_line / num_words;
    double sum = 0;
    for (std::uint64_t line = 0; line < space.num_positions; line += space.positions_per_line) {
      double product = 1;
      for (std::uint64_t begin = line; begin < line + space.positions_per_line; begin += word_size)
        product *= share(begin, begin + word_size);
      sum += std::pow(product, k / num_words);
    }
    return sum * static_cast<double>(space.positions_per_line) / static_cast<double>(space.num_positions);
  }
  const bool by_parts = layout == PositionLayout::parts;
  const std::uint64_t size = by_parts ? space.num_positions / space.num_hashes : space.positions_per_line;
  double product = 1;
  double sum = 0;
  for (std::uint64_t begin = 0; begin < space.num_positions; begin += size) {
    const double here = share(begin, begin + size);
    product *= here;
    sum += std::pow(here, k);
  }
  return by_parts ? product : sum * static_cast<double>(size) / static_cast<double>(space.num_positions);
}

struct KeyEstimate {
  double num_keys;
  double standard_error;
};

// A position of a line is 0 with exp(-(n/lines) u), u = 1 - (1 - 1/B)^k, the mean over a line's Poisson number of
// keys; solved for n. The error of the share of zeros z follows from its variance, that of n by d(ln z) = dz / z.
// The variance is the one at fixed n: with load = n u / lines and z zeros a line on average, the variance of a
// line's zeros under a Poisson number of keys less cov(zeros, keys)^2 / var(keys) is
//     z + z^2 ((1 - 1/B) exp(load (u^2 - w) / u) - 1 - load u),   w = (1 - 1/B)^(2k) - (1 - 2/B)^k.
KeyEstimate estimate_from_lines(PositionSpace space, std::uint64_t num_zero) {
  const double m = static_cast<double>(space.num_positions);
  const double k = space.num_hashes;
  const double positions_per_line = space.positions_per_line;
  const double num_lines = m / positions_per_line;
  const double load = -std::log(static_cast<double>(num_zero) / m);
  const double u = -std::expm1(k * std::log1p(-1 / positions_per_line));
  const double w = (1 - u) * (1 - u) - std::pow(1 - 2 / positions_per_line, k);
  const double zeros = static_cast<double>(num_zero) / num_lines;
  const double excess = (1 - 1 / positions_per_line) * std::exp(load * (u * u - w) / u) - 1 - load * u;
  const double variance_of_zeros = zeros + zeros * zeros * excess;
  const double relative_error = std::sqrt(std::max(0.0, variance_of_zeros) / num_lines) / zeros;
  return {load * num_lines / u, relative_error * num_lines / u};
}

// Distinct keys from the number of positions that are still 0.
template <class Storage>
KeyEstimate estimate_num_keys(const Storage& storage, PositionLayout layout, PositionSpace space) {
  const std::uint64_t num_zero = space.num_positions - num_at_least(storage, 1, 0, space.num_positions);
  if (layout == PositionLayout::lines && num_zero != 0) return estimate_from_lines(space, num_zero);
  if (layout == PositionLayout::words) {
    const std::uint64_t occupied = space.num_positions - num_zero;
    const theory::Estimate of_words =
        theory::estimate_similarity_register_blocked(space.num_positions / space.positions_per_line,
                                                     num_words, space.positions_per_line / num_words,
                                                     space.num_hashes, {occupied, occupied, occupied})
            .num_keys_a;
    return {of_words.value, of_words.standard_error};
  }
  const auto estimate = theory::estimate_distinct_keys(space.num_positions, space.num_hashes, num_zero);
  return {estimate.num_keys, estimate.standard_error};
}

}  // namespace

template <class Storage>
FilterStatistics storage_statistics(const Storage& storage, PositionLayout layout, PositionSpace space,
                                    std::uint64_t threshold) {
  FilterStatistics statistics;
  statistics.num_positions = space.num_positions;
  statistics.num_nonzero = num_at_least(storage, 1, 0, space.num_positions);
  const KeyEstimate keys = estimate_num_keys(storage, layout, space);
  statistics.estimated_num_keys = keys.num_keys;
  statistics.estimated_num_keys_standard_error = keys.standard_error;
  statistics.estimated_false_positive_rate = pass_probability(storage, layout, space, threshold);
  if constexpr (std::is_same_v<Storage, CounterArray>) {
    statistics.histogram = storage.histogram();
    statistics.num_saturated = storage.num_at_least(storage.max(), 0, space.num_positions);
  }
  return statistics;
}

template FilterStatistics storage_statistics(const BitArray&, PositionLayout, PositionSpace, std::uint64_t);
template FilterStatistics storage_statistics(const CounterArray&, PositionLayout, PositionSpace,
                                             std::uint64_t);

}  // namespace tally

// Messages between caches: how much of a summary changes, in real filters.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/measured_rate.hpp"
#include "support/random.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "tally/theory/summary_cache.hpp"

namespace tally::test {
namespace {

struct MeanAndError {
  double mean;
  double error;
};

/// The mean of run(seed) over `trials` seeds.
template <class Run>
MeanAndError mean_of(std::uint64_t trials, Run run) {
  double sum = 0;
  double squares = 0;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const double value = run(seed);
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(trials);
  const double mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / (n - 1))};
}

/// Replaces the first keys of a filter, one at a time.
template <class Filter>
void replace_keys(Filter& filter, std::vector<Hash128>& keys, std::uint64_t num, Random& random) {
  for (std::uint64_t i = 0; i < num; ++i) {
    (void)filter.remove(keys[i]);
    keys[i] = random.digest();
    (void)filter.insert(keys[i]);
  }
}

template <class Filter>
std::vector<Hash128> fill(Filter& filter, std::uint64_t num, Random& random) {
  std::vector<Hash128> keys(num);
  for (Hash128& key : keys) {
    key = random.digest();
    (void)filter.insert(key);
  }
  return keys;
}

template <class Scheme>
double flipped(const CountingBloomShape& shape, std::uint64_t n, std::uint64_t replaced, std::uint64_t seed) {
  Random random(seed);
  CountingBloomFilter<Scheme> filter(shape, KeyHasher(0));
  std::vector<Hash128> keys = fill(filter, n, random);
  const CountingBloomFilter<Scheme> before = filter;
  replace_keys(filter, keys, replaced, random);
  std::uint64_t num = 0;
  for (std::uint64_t i = 0; i < shape.num_counters; ++i)
    num += (before.storage().get(i) == 0) != (filter.storage().get(i) == 0);
  return static_cast<double>(num) / static_cast<double>(shape.num_counters);
}

// Two-sided, at 4.5 standard errors: each comparison fails by chance once in 140,000.
TEST(SummaryCache, ACountingFilterFlipsTheShareOfItsBitsThatTheFormulaSays) {
  constexpr std::uint64_t n = 2000;
  for (const std::uint64_t replaced : {2, 20, 200, 2000}) {
    for (const std::uint32_t k : {4u, 7u}) {
      const double predicted = theory::flipped_share(10 * n, k, n, replaced, replaced);
      const auto measured = mean_of(num_trials(150), [&](std::uint64_t seed) {
        return k == 4 ? flipped<StandardScheme>({10 * n, k, 4, 1}, n, replaced, seed)
                      : flipped<DefaultScheme>({10 * n, k, 4, 1}, n, replaced, seed);
      });
      EXPECT_LE(std::fabs(measured.mean - predicted), 4.5 * measured.error)
          << replaced << " keys, k = " << k << ": predicted " << predicted << ", measured " << measured.mean
          << " with a standard error of " << measured.error;
    }
  }
}

// Cells are compared by place: the order of a bucket's cells is a part of the message.
double changed_cells(std::uint64_t replaced, std::uint64_t seed) {
  constexpr std::uint64_t n = 6144;
  const DLeftShape shape{.buckets_per_subtable = n / 24};
  Random random(seed);
  DLeftCountingBloomFilter<> filter(shape, KeyHasher(seed));
  std::vector<Hash128> keys = fill(filter, n, random);
  replace_keys(filter, keys, n, random);  // the loads of a table in use
  const DLeftCountingBloomFilter<> before = filter;
  replace_keys(filter, keys, replaced, random);
  const CellTable& cells = filter.table().cells();
  std::uint64_t num = 0;
  for (std::uint64_t bucket = 0; bucket < cells.num_buckets(); ++bucket)
    for (std::uint32_t cell = 0; cell < cells.cells_per_bucket(); ++cell)
      num += cells.get(bucket, cell) != before.table().cells().get(bucket, cell);
  return static_cast<double>(num);
}

// The formula fills any empty cell; a filter the least loaded bucket. 100 trials place the mean within 0.2%.
TEST(SummaryCache, ADLeftFilterChangesAFewCellsLessThanTheFormulaSays) {
  constexpr std::uint64_t n = 6144;
  struct Case {
    std::uint64_t replaced;
    double least_share;
    double greatest_share;
  };
  for (const Case& expected : {Case{6, 0.985, 1.005}, {61, 0.98, 0.998}, {614, 0.88, 0.905}}) {
    const std::uint64_t replaced = expected.replaced;
    const double predicted = theory::dleft_changed_cells(4 * n / 3, n, replaced, replaced);
    const auto measured =
        mean_of(num_trials(100), [&](std::uint64_t seed) { return changed_cells(replaced, seed); });
    EXPECT_GE(measured.mean, expected.least_share * predicted) << replaced;
    EXPECT_LE(measured.mean, expected.greatest_share * predicted) << replaced;
  }
}

}  // namespace
}  // namespace tally::test

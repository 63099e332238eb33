#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "random.hpp"
#include "report.hpp"
#include "tally/filters/threshold.hpp"
#include "tally/hashing/independent_schemes.hpp"
#include "trials.hpp"

namespace tally::experiments {

/// What one filter of a trial said of keys never inserted.
struct FilterRate {
  double final_state = 0;  ///< the chance that a fresh key passes, from the counters or bits: exact
  std::uint64_t num_passed = 0;
};

/// Passes `num_digests` fresh random digests to use(span), some thousand at a time.
template <class Use>
void use_fresh_digests(test::Random& random, std::uint64_t num_digests, Use use) {
  std::vector<Hash128> digests(std::min<std::uint64_t>(num_digests, 4096));
  while (num_digests > 0) {
    digests.resize(std::min<std::uint64_t>(num_digests, digests.size()));
    for (Hash128& digest : digests) digest = random.digest();
    use(std::span<const Hash128>(digests));
    num_digests -= digests.size();
  }
}

/// How many of `num_queries` fresh random keys pass; ask_batch(digests, results) does the lookups.
template <class AskBatch>
std::uint64_t count_passed(test::Random& random, std::uint64_t num_queries, AskBatch ask_batch) {
  std::uint64_t num_passed = 0;
  std::array<bool, 4096> results{};
  use_fresh_digests(random, num_queries, [&](std::span<const Hash128> digests) {
    ask_batch(digests, std::span(results).first(digests.size()));
    num_passed +=
        static_cast<std::uint64_t>(std::count(results.begin(), results.begin() + digests.size(), true));
  });
  return num_passed;
}

inline void insert_all(ThresholdFilter<StandardScheme>& filter, std::span<const Hash128> digests) {
  std::vector<ThresholdState> states(digests.size());
  filter.insert_batch(digests, std::span(states));
}

inline FilterRate rate_of(const ThresholdFilter<StandardScheme>& filter, std::uint64_t num_queries,
                          test::Random& random) {
  return {filter.statistics().estimated_false_positive_rate,
          count_passed(random, num_queries, [&](std::span<const Hash128> digests, std::span<bool> results) {
            filter.at_least_batch(digests, results);
          })};
}

/// A threshold filter of k independent hashes, as in the papers, after n insertions of keys all different.
inline FilterRate threshold_trial(const ThresholdShape& shape, std::uint64_t n, std::uint64_t num_queries,
                                  std::uint64_t seed) {
  test::Random random(seed);
  ThresholdFilter<StandardScheme> filter(shape, KeyHasher(0));
  use_fresh_digests(random, n, [&](std::span<const Hash128> digests) { insert_all(filter, digests); });
  return rate_of(filter, num_queries, random);
}

/// Two rows that must have the predicted rate: of the final states, and, where it is not too small for that, by
/// queries.
inline void add_rates(Row row, const std::vector<FilterRate>& rates, std::uint64_t num_queries,
                      Report& report) {
  Mean mean;
  test::MeasuredRate queries(std::max<std::uint64_t>(num_queries, 1));
  for (const FilterRate& rate : rates) {
    mean.add(rate.final_state);
    queries.add_filter(rate.num_passed);
  }
  row.quantity = "false positive rate of the final states";
  row.measured = mean;
  report.add(row);
  if (num_queries == 0) return;
  row.quantity = fmt::format("false positive rate by {} queries per trial", num_queries);
  row.published.clear();
  row.measured = measured(queries, rates.size());
  report.add(std::move(row));
}

}  // namespace tally::experiments

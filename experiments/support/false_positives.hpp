#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fresh_filters.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally::experiments {

/// The schemes of Kirsch and Mitzenmacher 2008, the triple one of Dillinger and Manolios, and ours.
using ComparedSchemes = CounterSchemes;

/// The nearest number of bits, not above `num_bits`, that the scheme can use.
template <HashScheme Scheme>
BloomShape shape_below(std::uint64_t num_bits, std::uint32_t num_hashes) {
  const PositionSpace space{num_bits, num_hashes, BitArray::positions_per_line};
  return {Scheme::round_positions(space, Rounding::down), num_hashes};
}

/// For each of `num_filters` fresh filters of `num_keys` keys, how many of `num_queries` keys that were never
/// inserted are found. Digests are random numbers, so nothing is hashed. The numbers do not depend on the
/// number of threads.
template <HashScheme Scheme>
std::vector<std::uint64_t> false_positives(const Options& options, const std::string& name,
                                           const BloomShape& shape, std::uint64_t num_keys,
                                           std::uint64_t num_filters, std::uint64_t num_queries) {
  constexpr std::uint64_t filters_per_trial = 50;
  const auto fill_and_ask = [&](std::uint64_t seed) {
    test::Random random(seed);
    std::vector<std::uint64_t> counts;
    for (std::uint64_t i = 0; i < filters_per_trial; ++i) {
      BloomFilter<Scheme> filter(shape, 0);
      use_fresh_digests(random, num_keys, [&](std::span<const Hash128> keys) { filter.insert_batch(keys); });
      counts.push_back(count_passed(random, num_queries, [&](auto keys, std::span<bool> found) {
        filter.may_contain_batch(keys, found);
      }));
      // Beyond one block, digests are drawn in blocks of 1024; the recorded numbers rest on it.
      for (std::uint64_t drawn = num_queries; drawn > 1024 && drawn % 1024 != 0; ++drawn)
        (void)random.digest();
    }
    return counts;
  };
  std::vector<std::uint64_t> all;
  const std::uint64_t num_trials = (num_filters + filters_per_trial - 1) / filters_per_trial;
  for (const auto& counts : run_trials(options, name, num_trials, fill_and_ask))
    all.insert(all.end(), counts.begin(), counts.end());
  all.resize(num_filters);
  return all;
}

}  // namespace tally::experiments

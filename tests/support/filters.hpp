#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "support/exact_multiset.hpp"
#include "support/random.hpp"
#include "support/schemes.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/threshold.hpp"

/// One face for all filters, for laws that hold for all: Subject<Filter> says what a filter
/// promises about a key whose exact count is known.
namespace tally::test {

template <class Filter>
struct Subject;

using Words = std::vector<std::uint64_t>;

template <class Filter>
Words words_of(const Filter& filter) {
  return {filter.storage().words().begin(), filter.storage().words().end()};
}

/// min(truth, max): the least value that a counter of a key may have.
inline std::uint64_t least_count(Wide truth, std::uint64_t max) {
  return truth < max ? static_cast<std::uint64_t>(truth) : max;
}

template <class Scheme>
struct Subject<BloomFilter<Scheme>> {
  using Filter = BloomFilter<Scheme>;
  using SchemeType = Scheme;
  using Shape = BloomShapeFor<Scheme>;
  static constexpr bool has_counters = false;
  static constexpr bool has_remove = false;
  static std::string name() { return "bloom_" + test_name_of<Scheme>(); }

  static std::vector<Shape> shapes(std::uint64_t m, std::uint32_t k) {
    const PositionSpace space = usable_space<Scheme>(m, k);
    return {{space.num_positions, space.num_hashes}};
  }
  static void insert_batch(Filter& filter, const std::vector<std::uint64_t>& keys) {
    filter.insert_batch(keys);
  }

  /// Whether what the filter says of the key is allowed, given the key's exact count.
  static bool keeps_promise(const Filter& filter, std::uint64_t key, Wide truth) {
    return truth == 0 || filter.may_contain(key);
  }
};

template <class Scheme>
struct Subject<CountingBloomFilter<Scheme>> {
  using Filter = CountingBloomFilter<Scheme>;
  using SchemeType = Scheme;
  using Shape = CountingBloomShapeFor<Scheme>;
  static constexpr bool has_counters = true;
  static constexpr bool has_remove = true;
  static std::string name() { return "counting_bloom_" + test_name_of<Scheme>(); }

  /// Every width of counters.
  static std::vector<Shape> shapes(std::uint64_t m, std::uint32_t k) {
    std::vector<Shape> shapes;
    for (const std::uint32_t bits : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u, 32u, 64u}) {
      const PositionSpace space = usable_space<Scheme>(m, k, CounterArray::positions_per_line(bits));
      shapes.push_back({space.num_positions, space.num_hashes, bits, ~std::uint64_t{0} >> (64 - bits)});
    }
    return shapes;
  }
  static void insert_batch(Filter& filter, const std::vector<std::uint64_t>& keys) {
    filter.insert_batch(keys);
  }

  static bool keeps_promise(const Filter& filter, std::uint64_t key, Wide truth) {
    const std::uint64_t max = filter.storage().max();
    const std::uint64_t least = least_count(truth, max);
    const Count count = filter.count(key);
    return count.value >= least && count.saturated == (count.value == max) &&
           filter.may_contain(key) == (count.value != 0) && (least == 0 || filter.at_least(key, least));
  }
};

template <class Scheme>
struct Subject<ThresholdFilter<Scheme>> {
  using Filter = ThresholdFilter<Scheme>;
  using SchemeType = Scheme;
  using Shape = ThresholdShape;
  static constexpr bool has_counters = true;
  static constexpr bool has_remove = false;
  static std::string name() { return "threshold_" + test_name_of<Scheme>(); }

  /// Thresholds for the widths 1, 2, 2, 3, 4, 8, 16 and 32, with both updates.
  static std::vector<Shape> shapes(std::uint64_t m, std::uint32_t k) {
    std::vector<Shape> shapes;
    for (const std::uint64_t theta : {1, 2, 3, 5, 10, 200, 300, 70000}) {
      for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
        ThresholdShape shape{m, usable_hashes<Scheme>(k), theta, update};
        shape.num_counters =
            usable_space<Scheme>(m, k, CounterArray::positions_per_line(counter_bits_for(shape)))
                .num_positions;
        shapes.push_back(shape);
      }
    }
    return shapes;
  }
  static void insert_batch(Filter& filter, const std::vector<std::uint64_t>& keys) {
    std::vector<ThresholdState> states(keys.size());
    filter.insert_batch(keys, states);
  }

  static bool keeps_promise(const Filter& filter, std::uint64_t key, Wide truth) {
    const std::uint64_t max = filter.storage().max();
    const Count count = filter.count(key);
    return count.value >= least_count(truth, max) && count.saturated == (count.value == max) &&
           filter.at_least(key) == (count.value >= filter.shape().threshold);
  }
};

// The laws run with every scheme, but under sanitizers with one of each kind of code: the others differ in their positions,
// which the tests of the schemes check there too.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TALLY_TESTS_FEW_SCHEMES
#endif
#endif
#ifdef TALLY_TESTS_FEW_SCHEMES
using SchemesOfFilters = SchemeList<CongruentialScheme, BlockedScheme, StandardScheme, PartitionedScheme>;
#else
using SchemesOfFilters = AllSchemes;
#endif
using SchemesOfFiltersTypes = TypesOf<SchemesOfFilters>::type;

template <class List>
struct FiltersOf;
template <class... Schemes>
struct FiltersOf<SchemeList<Schemes...>> {
  using type = testing::Types<BloomFilter<Schemes>..., CountingBloomFilter<Schemes>...,
                              ThresholdFilter<Schemes>..., BloomFilter<RegisterBlockedScheme>>;
};
using AllFilters = FiltersOf<SchemesOfFilters>::type;

struct FilterNames {
  template <class Filter>
  static std::string GetName(int) {
    return Subject<Filter>::name();
  }
};

/// Keys 0 .. universe - 1, the low ones far more often, some in bursts: this drives counters into saturation.
inline std::vector<std::uint64_t> skewed_keys(Random& random, std::uint64_t universe, std::size_t num_keys) {
  std::vector<std::uint64_t> keys;
  while (keys.size() < num_keys) {
    const std::uint64_t key = random.below(random.below(universe) + 1);
    const std::uint64_t times = random.below(8) == 0 ? random.between(1, 20) : 1;
    for (std::uint64_t i = 0; i < times && keys.size() < num_keys; ++i) keys.push_back(key);
  }
  return keys;
}

/// Inserts the keys into both.
template <class Filter>
void insert_into_both(Filter& filter, ExactMultiset& twin, const std::vector<std::uint64_t>& keys) {
  Subject<Filter>::insert_batch(filter, keys);
  for (const std::uint64_t key : keys) twin.insert(key);
}

/// Checks the promise for every key of the universe.
template <class Filter>
void expect_promises_kept(const Filter& filter, const ExactMultiset& twin) {
  for (std::uint64_t key = 0; key < twin.universe(); ++key) {
    ASSERT_TRUE(Subject<Filter>::keeps_promise(filter, key, twin.count(key)))
        << Subject<Filter>::name() << ", key " << key << " of count "
        << static_cast<std::uint64_t>(twin.count(key));
  }
}

/// Batches of bool need an array: vector<bool> is none.
template <class Ask>
std::vector<bool> ask_batch(std::size_t size, Ask ask) {
  const std::unique_ptr<bool[]> results(new bool[size]);
  ask(std::span<bool>(results.get(), size));
  return std::vector<bool>(results.get(), results.get() + size);
}

}  // namespace tally::test

// One filter divided over shards. The shards are balanced, and the largest is as large as its law says. A structure with the
// keys of one shard errs as often for absent keys of that shard as a structure with as many keys of any shard: every kind,
// with every scheme that it has. Keys are integers or texts, hashed by XXH3-128 with a fresh seed for each structure; 99.9%
// two-sided for all cells of a test together.
//
// A shard by the highest bits of `low` fails all but the standard and partitioned schemes and the independent and pairwise
// rows; by the highest bits of `high`, enhanced and partition double hashing, blocked counters, d-left filters and two-hash
// rows; by the lowest bits of `high`, the blocked schemes and compact d-left filters; by independent_hash(digest, 0), the standard and
// partitioned schemes and the independent and two-hash rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "support/count_min_law.hpp"
#include "support/dleft_rates.hpp"
#include "support/expect_rates.hpp"
#include "support/filters.hpp"
#include "support/row_schemes.hpp"
#include "tally/any_filter.hpp"
#include "tally/hashing/shard.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/largest_share.hpp"
#include "tally/theory/threshold.hpp"

namespace tally::test {
namespace {

double chi_square_of(const std::vector<std::uint64_t>& sizes, double expected) {
  double sum = 0;
  for (const std::uint64_t size : sizes) {
    const double difference = static_cast<double>(size) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(Shards, SequentialKeysAreBalanced) {
  constexpr std::uint64_t num_keys = 1'000'000;
  const std::vector<std::uint32_t> numbers = {2, 3, 16, 1000, max_num_shards};
  const KeyHasher hasher(42);
  std::vector<Hash128> integers, texts;
  for (std::uint64_t i = 0; i < num_keys; ++i) {
    integers.push_back(hasher(i));
    texts.push_back(hasher("user:" + std::to_string(i)));
  }
  const double side = (1 - family_confidence) / 2 / (2.0 * static_cast<double>(numbers.size()));
  for (const auto& digests : {integers, texts}) {
    for (const std::uint32_t num_shards : numbers) {
      std::vector<std::uint64_t> sizes(num_shards);
      for (const Hash128 digest : digests) ++sizes[shard_of(digest, num_shards)];
      const double sum = chi_square_of(sizes, static_cast<double>(num_keys) / num_shards);
      const boost::math::chi_squared law(num_shards - 1);
      EXPECT_GT(sum, quantile(law, side)) << num_shards << " shards";
      EXPECT_LT(sum, quantile(complement(law, side))) << num_shards << " shards";
    }
  }
}

// The true probability is between 1 - (1 - u/s)^s and u.
TEST(Shards, TheLargestIsAsOftenTooLargeAsTheLawSays) {
  struct Throws {
    std::uint64_t num_keys;
    std::uint32_t num_shards;
  };
  const std::vector<Throws> all = {{1000, 2}, {1000, 16}, {10'000, 100}, {200, 1000}};
  const std::vector<double> probabilities = {0.3, 0.05, 0.005};
  const double confidence = theory::per_test_confidence(family_confidence, all.size() * probabilities.size());
  Random random(1);
  for (const auto& [num_keys, num_shards] : all) {
    const std::uint64_t num_sets = num_trials(20'000);
    std::vector<std::uint64_t> num_with_largest(num_keys + 1);
    for (std::uint64_t i = 0; i < num_sets; ++i) {
      std::vector<std::uint64_t> sizes(num_shards);
      for (std::uint64_t key = 0; key < num_keys; ++key) ++sizes[shard_of(random.digest(), num_shards)];
      ++num_with_largest[*std::ranges::max_element(sizes)];
    }
    for (const double probability : probabilities) {
      const std::uint64_t c = theory::largest_share(num_keys, num_shards, probability);
      const double bound = theory::probability_of_larger_share(num_keys, num_shards, c);
      const double least = 1 - std::pow(1 - bound / num_shards, num_shards);
      std::uint64_t num_larger = 0;
      for (std::uint64_t size = c + 1; size <= num_keys; ++size) num_larger += num_with_largest[size];
      const auto limits = theory::binomial_confidence_limits(num_larger, num_sets, confidence);
      const std::string name = std::to_string(num_keys) + " keys in " + std::to_string(num_shards) +
                               " shares, more than " + std::to_string(c) + ": " + std::to_string(num_larger) +
                               " of " + std::to_string(num_sets) + ", bound " + std::to_string(bound);
      EXPECT_LE(limits.low, bound) << name;
      EXPECT_GE(limits.high, least) << name;
    }
  }
}

/// The digests of those of the integers 0, 1, ... that are in one shard.
class KeysOfOneShard {
 public:
  KeysOfOneShard(std::uint32_t num_shards, Random& random)
      : hasher_(random.next()),
        num_shards_(num_shards),
        shard_(static_cast<std::uint32_t>(random.below(num_shards))) {}

  const KeyHasher& hasher() const { return hasher_; }
  std::vector<Hash128> next(std::uint64_t num_keys) {
    std::vector<Hash128> keys;
    while (keys.size() < num_keys) {
      const Hash128 digest = hasher_(next_key_++);
      if (shard_of(digest, num_shards_) == shard_) keys.push_back(digest);
    }
    return keys;
  }

 private:
  KeyHasher hasher_;
  std::uint32_t num_shards_;
  std::uint32_t shard_;
  std::uint64_t next_key_ = 0;
};

/// A structure of this shape, filled with num_keys keys, and the probability that it reports an absent key as inserted
/// `theta` times.
struct ShardSubject {
  FilterShape shape;
  std::uint64_t num_keys;
  double predicted;
  std::uint64_t theta = 1;
};

void expect_errors_as_without_shards(const std::vector<ShardSubject>& subjects, std::uint64_t num_filters,
                                     std::uint64_t seed) {
  Random random(seed);
  std::vector<Cell> cells;
  for (const ShardSubject& subject : subjects) {
    const FilterShape shape = subject.shape;
    ASSERT_GE(subject.predicted, 1e-3);
    for (const std::uint32_t num_shards : {1u, 3u, 16u}) {
      MeasuredRate measured(usual_num_queries);
      std::uint64_t num_full = 0;
      for (std::uint64_t i = 0; i < num_trials(num_filters); ++i) {
        KeysOfOneShard keys(num_shards, random);
        AnyFilter filter(shape, keys.hasher());
        num_full += filter.insert_batch(keys.next(subject.num_keys));
        const std::vector<Hash128> absent = keys.next(usual_num_queries);
        const auto found = ask_batch(absent.size(), [&](std::span<bool> results) {
          if (filter.can_count()) {
            filter.at_least_batch(absent, subject.theta, results);
          } else {
            filter.may_contain_batch(absent, results);
          }
        });
        measured.add_filter(static_cast<std::uint64_t>(std::ranges::count(found, true)));
      }
      const std::string name = std::string(name_of(shape.kind())) + " " + std::string(shape.scheme_name()) +
                               " in 1 of " + std::to_string(num_shards) + " shards";
      EXPECT_EQ(num_full, 0u) << name << ": refused insertions";
      cells.push_back({name, subject.predicted, measured});
    }
  }
  expect_predicted(cells);
}

/// As many bits as the law of the scheme can be counted for, with 8 bits per key.
constexpr std::uint64_t countable_bits(PositionLaw law) {
  if (law == PositionLaw::triple) return 101;
  return law == PositionLaw::quadratic_double || law == PositionLaw::cubic_double ? 401 : 8192;
}

/// For every scheme in the list; make_shape(m, k) is a shape of the kind.
template <class Schemes, class MakeShape>
std::vector<ShardSubject> with_every_scheme(MakeShape make_shape) {
  std::vector<ShardSubject> subjects;
  Schemes::for_each([&]<class Scheme>(std::type_identity<Scheme>) {
    const PositionSpace space = usable_space<Scheme>(countable_bits(Scheme::law), 5);
    const std::uint64_t num_keys = space.num_positions / 8;
    const SchemeLaw law =
        false_positive_law(Scheme::file_id, space.num_positions, space.num_hashes, num_keys, 0x1p28);
    EXPECT_EQ(law.kind, LawKind::exact) << Scheme::name;
    subjects.push_back({{make_shape(std::type_identity<Scheme>{}, space), Scheme::file_id},
                        num_keys,
                        std::exp(law.ln_false_positive_rate)});
  });
  return subjects;
}

TEST(Shards, BloomFiltersWithEverySchemeErrAsWithoutShards) {
  const auto subjects =
      with_every_scheme<AllSchemes>([]<class Scheme>(std::type_identity<Scheme>, PositionSpace space) {
        return BloomShapeFor<Scheme>{space.num_positions, space.num_hashes};
      });
  EXPECT_EQ(subjects.size(), AllSchemes::names.size());
  expect_errors_as_without_shards(subjects, 600, 2);
}

TEST(Shards, CountingBloomFiltersErrAsWithoutShards) {
  auto subjects =
      with_every_scheme<CounterSchemes>([]<class Scheme>(std::type_identity<Scheme>, PositionSpace space) {
        return CountingBloomShape{space.num_positions, space.num_hashes, 8, 1};
      });
  constexpr std::uint32_t per_line = 128;  // counters of 4 bits
  subjects.push_back({{BlockedCountingBloomShape{64 * per_line, 5, 4, 1}, BlockedScheme::file_id},
                      8 * per_line,
                      theory::blocked_bloom_false_positive_probability(64, per_line, 5, 8 * per_line)});
  expect_errors_as_without_shards(subjects, 300, 3);
}

// Thresholds above 1, where several keys must meet in each counter.
TEST(Shards, ThresholdFiltersErrAsWithoutShards) {
  std::vector<ShardSubject> subjects;
  const std::uint64_t m = 16384;
  for (const std::uint64_t theta : {2u, 3u}) {
    subjects.push_back({{ThresholdShape{m, 3, theta}, CongruentialScheme::file_id},
                        m / 2,
                        theory::threshold_false_positive_probability(theta, 3, m / 2, m, 0),
                        theta});
  }
  expect_errors_as_without_shards(subjects, 200, 4);
}

TEST(Shards, DLeftFiltersErrAsWithoutShards) {
  std::vector<ShardSubject> subjects;
  const auto add = [&](const auto& shape, std::uint16_t scheme) {
    const std::uint64_t num_keys = shape.num_cells() * 7 / 10;
    subjects.push_back({{shape, scheme}, num_keys, predicted_rate(shape, num_keys)});
  };
  for (const std::uint32_t remainder_bits : {6u, 10u}) {
    DLeftShape shape{.buckets_per_subtable = 64,
                     .remainder_bits = remainder_bits,
                     .counter_bits = 2,
                     .least_remainder_bits = remainder_bits,
                     .spill_capacity = 1000};
    add(shape, MultiplierBuckets::file_id);
    shape.buckets_per_subtable = 85;
    add(shape, RotationBuckets::file_id);
  }
  expect_errors_as_without_shards(subjects, 300, 5);
}

TEST(Shards, CompactDLeftFiltersErrAsWithoutShards) {
  std::vector<ShardSubject> subjects;
  for (const std::uint32_t remainder_bits : {8u, 9u}) {
    const CompactDLeftShape shape{.num_lines_per_subtable = 23, .remainder_bits = remainder_bits};
    const std::uint64_t num_keys = shape.num_cells() * 9 / 10;
    subjects.push_back({{shape, RotationBuckets::file_id}, num_keys, predicted_rate(shape, num_keys)});
  }
  expect_errors_as_without_shards(subjects, 300, 6);
}

// Pr(the estimate of a key that was never added is at least theta).
TEST(Shards, CountMinSketchesErrAsWithoutShards) {
  std::vector<ShardSubject> subjects;
  RowSchemes::for_each([&]<class Rows>(std::type_identity<Rows>) {
    for (const Crowd& crowd :
         {Crowd{101, 3, 2, 60, 1}, Crowd{101, 3, 1, 400, 6}, Crowd{1009, 3, 1, 4000, 6}}) {
      const CountMinShape shape = usable<Rows>({crowd.width, crowd.depth, crowd.num_copies, 16});
      subjects.push_back({{shape, Rows::file_id}, crowd.num_keys, exact_for<Rows>(crowd), crowd.value});
    }
  });
  expect_errors_as_without_shards(subjects, 300, 7);
}

}  // namespace
}  // namespace tally::test

#include "tally/planner/plan_dleft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "expect_refused.hpp"
#include "tally/any_filter.hpp"
#include "tally/detail/dleft/kernels.hpp"
#include "tally/filters/spill_table.hpp"
#include "tally/planner.hpp"
#include "tally/theory/dleft_few_buckets.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "tally/theory/dleft_safe_load.hpp"
#include "tally/theory/dleft_spills.hpp"
#include "tally/theory/tails.hpp"

namespace tally {
namespace {

using test::expect_refused;

double rate_of(const DLeftShape& shape, std::uint64_t num_keys) {
  const FingerprintSpace space = shape.fingerprint_space();
  return theory::dleft_false_positive_probability(space.num_buckets, space.num_remainders(), num_keys);
}

double load_of(const DLeftShape& shape, std::uint64_t num_keys) {
  return theory::dleft_distinct_load(shape.num_subtables, shape.buckets_per_subtable,
                                     shape.fingerprint_space().num_remainders(), num_keys) /
         shape.cells_per_bucket;
}

/// Bytes of cells and side table that are really allocated.
std::uint64_t allocated_bytes(const DLeftShape& shape) {
  const DLeftCountingBloomFilter<> filter(shape, 1);
  return filter.table().cells().words().size_bytes() + filter.table().spills().words().size_bytes();
}

TEST(PlannedDLeftLoad, IsThatOfTheLimitOrAHairLessForManyBuckets) {
  for (const std::uint32_t d : {2u, 3u, 4u}) {
    for (const std::uint32_t c : {8u, 16u, 32u}) {
      for (const double failure : {0.5, 1e-4, 1e-15}) {
        for (const std::uint64_t num_buckets : {std::uint64_t{1} << 32, max_num_buckets}) {
          const double filled = theory::dleft_safe_load(d, num_buckets, c, 0, failure) / c;
          const double planned = planned_dleft_load(d, num_buckets, c, 12'345, 0, failure);
          if (filled < 1) {
            EXPECT_LE(planned, filled) << d << " " << c << " " << failure << " " << num_buckets;
          }
          if (filled < 0.9) {
            EXPECT_GE(planned, 0.998 * filled) << d << " " << c << " " << failure << " " << num_buckets;
          }
        }
        for (const std::uint64_t num_operations : {1000ull, 30'000'000ull, ~0ull}) {
          const double target = -std::log1p(-failure) / (static_cast<double>(num_operations) + 1000);
          const double planned = planned_dleft_load(d, max_num_buckets, c, 1000, num_operations, failure);
          const auto chance = [&](double share) {
            return theory::dleft_overflow_probability(theory::dleft_loads(d, share * c, theory::steady_state),
                                                      c);
          };
          EXPECT_LE(chance(planned), target) << d << " " << c << " " << failure << " " << num_operations;
          EXPECT_GE(chance(planned * 1.001), target)
              << d << " " << c << " " << failure << " " << num_operations;
        }
      }
    }
  }
  expect_refused([] { (void)planned_dleft_load(5, 10, 8, 10, 0, 0.1); }, {"planned_dleft_load", "5 x 8"});
  expect_refused([] { (void)planned_dleft_load(4, 0, 8, 10, 0, 0.1); }, {"buckets_per_subtable is 0"});
  expect_refused([] { (void)planned_dleft_load(4, 1, 8, 10, 0, std::nan("")); }, {"failure_probability"});
}

TEST(PlannedDLeftLoad, IsABoundForFewBucketsToo) {
  struct Table {
    std::uint32_t d;
    std::uint64_t num_buckets;
    std::uint32_t c;
  };
  for (const auto& [d, num_buckets, c] :
       {Table{2, 2, 8}, Table{2, 3, 8}, Table{2, 4, 8}, Table{3, 2, 8}, Table{2, 2, 16}, Table{2, 2, 32}}) {
    const std::uint64_t num_cells = d * num_buckets * c;
    const std::uint64_t step = num_cells / 6 + 1;
    for (std::uint64_t n = std::uint64_t{d} * c + 1; n <= num_cells; n += step) {
      const double load = static_cast<double>(n) / static_cast<double>(num_cells);
      const double filling = theory::dleft_any_overflow_filling(d, num_buckets, c, n);
      EXPECT_GE(planned_dleft_failure_probability(d, num_buckets, c, n, 0, load), filling)
          << d << " x " << num_buckets << " x " << c << " with " << n;
      const double once = theory::dleft_overflow_churning(d, num_buckets, c, n);
      const std::uint64_t num_steps = 1'000'000;
      const double planned = planned_dleft_failure_probability(d, num_buckets, c, n, num_steps, load);
      EXPECT_GE(planned, -std::expm1(-static_cast<double>(num_steps) * once))
          << d << " x " << num_buckets << " x " << c << " with " << n;
    }
  }
}

TEST(PlannedDLeftLoad, RisesWithTheNumberOfBuckets) {
  for (const std::uint32_t d : {2u, 3u, 4u}) {
    for (const std::uint64_t num_operations : {0ull, 1'000'000'000ull}) {
      double last = 0;
      for (std::uint64_t num_buckets = 2; num_buckets < 1u << 24; num_buckets *= 2) {
        // As many events for every size.
        const std::uint64_t num_events = num_operations == 0 ? num_buckets : num_operations;
        const double load = planned_dleft_load(d, num_buckets, 8, 10'000, num_operations,
                                               -std::expm1(-1e-11 * static_cast<double>(num_events)));
        EXPECT_GE(load, last - 1e-12) << d << " x " << num_buckets << ", " << num_operations;
        last = load;
      }
    }
  }
}

TEST(PlannedDLeftLoad, IsNotLowWhereNothingCanFail) {
  // d full buckets have d c elements, and before that there is always room.
  for (const std::uint64_t num_buckets : {1ull, 2ull, 1000ull}) {
    EXPECT_EQ(planned_dleft_load(4, num_buckets, 8, 32, 1'000'000, 1e-15), 1);
    EXPECT_LE(planned_dleft_failure_probability(4, num_buckets, 8, 32, 1'000'000, 0.9), 1e-36);
  }
  EXPECT_EQ(planned_dleft_load(4, 1, 8, 33, 1'000'000, 1e-15), 0);
  EXPECT_EQ(planned_dleft_failure_probability(4, 1, 8, 33, 1'000'000, 0.9), 1);
  const DLeftShape small = plan_dleft({.num_keys = 10, .false_positive_rate = 0.01});
  EXPECT_LE(small.num_cells(), 32);
}

TEST(PlannedDLeftLoad, FallsIfKeysShareFingerprints) {
  // The same mean load of distinct fingerprints: its number varies if more keys share them.
  const double alone = planned_dleft_load(2, 64, 8, 400, 500'000, 1e-6);
  const double shared = planned_dleft_load(2, 64, 8, 900, 500'000, 1e-6);
  EXPECT_LT(shared, alone);
  EXPECT_GT(shared, 0.5 * alone);
}

TEST(PlanDLeft, FailsAsOftenAsPlannedAtThePlannedLoad) {
  for (const std::uint32_t d : {2u, 3u, 4u}) {
    for (const double failure : {1e-9, 1e-3, 0.2}) {
      for (const std::uint64_t num_operations : {0ull, 1'000'000ull}) {
        const double load = planned_dleft_load(d, 1000, 8, 10'000, num_operations, failure);
        const double found = planned_dleft_failure_probability(d, 1000, 8, 10'000, num_operations, load);
        EXPECT_NEAR(std::log(found), std::log(failure), 0.02) << d << " " << failure << " " << num_operations;
        EXPECT_GT(planned_dleft_failure_probability(d, 1000, 8, 10'000, num_operations, 1.05 * load),
                  failure);
      }
    }
  }
  expect_refused([] { (void)planned_dleft_failure_probability(5, 10, 8, 10, 0, 0.1); }, {"5 x 8"});
  expect_refused([] { (void)planned_dleft_failure_probability(4, 10, 8, 10, 0, 1.1); }, {"load is 1.1"});
}

TEST(PlanDLeft, KeepsTheRateWithRoomForAllKeys) {
  for (const std::uint64_t n : {1ull, 2ull, 100ull, 10'000ull, 1'000'000ull, 1'000'000'000ull}) {
    for (const double rate : {0.5, 0.01, 1e-3, 1e-6}) {
      const DLeftShape shape = plan_dleft({.num_keys = n, .false_positive_rate = rate});
      EXPECT_LE(rate_of(shape, n), rate) << n;
      EXPECT_LE(load_of(shape, n), 1) << n;
      EXPECT_FALSE(shape.grows);
      EXPECT_GE(planned_num_keys(shape, rate), n) << n << " " << rate;
    }
  }
}

/// The definition, tried on every shape there is.
struct Oracle {
  Requirements requirements;

  std::uint64_t spills(const DLeftShape& shape, std::uint64_t num_keys) const {
    const double num_fingerprints = shape.fingerprint_space().num_fingerprints();
    const double keys_each =
        std::ldexp(static_cast<double>(num_keys), requirements.max_doublings.value_or(0)) *
        -std::log1p(-1 / num_fingerprints);
    // Keys that repeat may all be in it four times.
    const std::uint64_t past_a_cell = (1u << shape.counter_bits) / (requirements.keys_repeat ? 4 : 1) + 1;
    const double expected =
        num_fingerprints * std::exp(theory::ln_poisson_upper_tail(past_a_cell, keys_each));
    const std::uint64_t keys = num_keys << requirements.max_doublings.value_or(0);
    const std::uint64_t needed = theory::dleft_spill_capacity(
        expected, requirements.lifetime_operations.value_or(1000 * keys),
        requirements.failure_probability.value_or(default_failure_probability) / 1024);
    if (!requirements.keys_repeat || requirements.num_frequent_keys)
      return needed + requirements.num_frequent_keys.value_or(0);
    return std::max(needed, static_cast<std::uint64_t>(std::ceil(expected + 6 * std::sqrt(expected)) + 64));
  }

  bool meets(const DLeftShape& shape, std::uint64_t num_keys) const {
    if (shape.fingerprint_space().num_fingerprints() <
        static_cast<double>(num_keys << requirements.max_doublings.value_or(0)))
      return false;
    for (const std::uint32_t s : {0u, requirements.max_doublings.value_or(0)}) {
      DLeftShape size = shape;
      size.buckets_per_subtable <<= s;
      size.remainder_bits -= s;
      size.least_remainder_bits = shape.remainder_bits - s;
      const std::uint64_t keys = num_keys << s;
      const std::uint64_t operations = requirements.lifetime_operations.value_or(1000 * keys);
      // Doubled s times it is 2^s tables, and the fullest one has more than its share (Bernstein).
      double fullest = static_cast<double>(num_keys);
      if (s > 0) {
        const double states =
            std::ldexp(1 + static_cast<double>(operations) / static_cast<double>(keys), int(s));
        const double x = std::log(2 * states / (1 - 1.0 / 1024) /
                                  requirements.failure_probability.value_or(default_failure_probability));
        fullest += x / 3 + std::sqrt(x * x / 9 + 2 * fullest * x);
      }
      const double load =
          theory::dleft_distinct_load(size.num_subtables, size.buckets_per_subtable,
                                      shape.fingerprint_space().num_remainders() >> s,
                                      static_cast<std::uint64_t>(std::ldexp(fullest, int(s)))) /
          size.cells_per_bucket;
      if (load > 1) return false;
      // A part has its own buckets; there are as many operations as in all parts.
      if (planned_dleft_failure_probability(size.num_subtables, shape.buckets_per_subtable,
                                            size.cells_per_bucket, num_keys,
                                            operations == 0 ? 0 : operations + keys - num_keys, load) >
          requirements.failure_probability.value_or(default_failure_probability) * (1 - 1.0 / 1024) /
              (s > 0 ? 2 : 1))
        return false;
    }
    if (requirements.false_positive_rate && rate_of(shape, num_keys) > *requirements.false_positive_rate)
      return false;
    if (requirements.memory_bytes && num_bytes(shape) > *requirements.memory_bytes) return false;
    return shape.spill_capacity >= spills(shape, num_keys);
  }

  /// Calls visit(shape) for every shape with at most this number of buckets.
  template <class Visit>
  void for_each_shape(std::uint64_t most_buckets, Visit visit) const {
    for (const std::uint32_t d : {2u, 3u, 4u}) {
      for (const std::uint32_t c : {8u, 16u, 32u}) {
        for (const std::uint32_t cell_bits : {8u, 12u, 16u, 24u, 32u}) {
          for (std::uint32_t counter_bits = requirements.keys_repeat ? 2 : 0; counter_bits <= 4;
               ++counter_bits) {
            const std::uint32_t r = cell_bits - counter_bits;
            if (r < 4 + requirements.max_doublings.value_or(0)) continue;
            for (std::uint64_t num_buckets = 1; num_buckets <= most_buckets; ++num_buckets) {
              DLeftShape shape{.buckets_per_subtable = num_buckets,
                               .num_subtables = d,
                               .cells_per_bucket = c,
                               .remainder_bits = r,
                               .counter_bits = counter_bits,
                               .least_remainder_bits = r - requirements.max_doublings.value_or(0)};
              for (const std::uint64_t capacity : {0ull, 1ull, 2ull, 5ull, 10ull, 21ull, 42ull, 85ull, 170ull,
                                                   341ull, 682ull, 1365ull, 2730ull, 5461ull}) {
                shape.spill_capacity = capacity;
                visit(shape);
              }
            }
          }
        }
      }
    }
  }
};

bool is_fast(const DLeftShape& shape) { return detail::dleft_kernels(shape) != nullptr; }

TEST(PlanDLeft, NoShapeThatMeetsTheRequestIsSmaller) {
  for (const std::uint64_t n : {30ull, 700ull, 2105ull, 5000ull}) {
    for (const double rate : {0.4, 0.2, 0.01, 0.001}) {
      for (const bool keys_repeat : {true, false}) {
        for (const std::uint32_t max_doublings : {0u, 2u}) {
          if (n == 30 && max_doublings > 0)
            continue;  // few enough for the buckets of one part, but not for those of all
          Requirements requirements{.num_keys = n,
                                    .false_positive_rate = rate,
                                    .keys_repeat = keys_repeat,
                                    .max_doublings = max_doublings,
                                    .max_moves_per_insertion = 0.0};
          const Oracle oracle{requirements};
          std::uint64_t least_of_any = ~0ull;
          std::uint64_t least_of_fast = ~0ull;
          oracle.for_each_shape(600, [&](const DLeftShape& shape) {
            std::uint64_t& least = is_fast(shape) ? least_of_fast : least_of_any;
            if (num_bytes(shape) < least && oracle.meets(shape, n)) least = num_bytes(shape);
          });
          least_of_any = std::min(least_of_any, least_of_fast);
          for (const bool prefers_speed : {false, true}) {
            requirements.prefers_speed = prefers_speed;
            const DLeftShape planned = plan_dleft(requirements);
            EXPECT_TRUE(oracle.meets(planned, n)) << n << " " << rate;
            const bool must_be_fast = prefers_speed && least_of_fast / 2 <= least_of_any;
            if (must_be_fast) {
              EXPECT_TRUE(is_fast(planned)) << n << " " << rate;
            }
            const std::uint64_t least = must_be_fast ? least_of_fast : least_of_any;
            EXPECT_GE(num_bytes(planned), least) << n << " " << rate;
            EXPECT_LE(num_bytes(planned), least + least / 100 + 1) << n << " " << rate;
            // Of those that are as small, none has a lower rate.
            oracle.for_each_shape(600, [&](const DLeftShape& shape) {
              if (must_be_fast && !is_fast(shape)) return;
              if (num_bytes(shape) <= num_bytes(planned) && rate_of(shape, n) < rate_of(planned, n)) {
                EXPECT_FALSE(oracle.meets(shape, n)) << n << " " << rate;
              }
            });
          }
        }
      }
    }
  }
}

TEST(PlanDLeft, NeverExceedsTheMemoryAndNoShapeInItErrsLess) {
  for (const std::uint64_t n : {30ull, 700ull}) {
    for (const std::uint64_t memory : {2300ull, 4000ull, 10'000ull}) {
      Requirements requirements{.num_keys = n, .memory_bytes = memory, .max_moves_per_insertion = 0.0};
      const Oracle oracle{requirements};
      std::optional<DLeftShape> best;
      std::optional<DLeftShape> best_of_fast;
      oracle.for_each_shape(700, [&](const DLeftShape& shape) {
        if (num_bytes(shape) > memory) return;
        const auto is_better = [&](const std::optional<DLeftShape>& than) {
          return !than || rate_of(shape, n) < rate_of(*than, n);
        };
        const bool may_be_best_of_fast = is_fast(shape) && is_better(best_of_fast);
        if ((!is_better(best) && !may_be_best_of_fast) || !oracle.meets(shape, n)) return;
        if (is_better(best)) best = shape;
        if (may_be_best_of_fast) best_of_fast = shape;
      });
      for (const bool prefers_speed : {false, true}) {
        requirements.prefers_speed = prefers_speed;
        if (!best) {
          expect_refused([&] { (void)plan_dleft(requirements); }, {"plan_dleft: memory_bytes is", "no room"});
          continue;
        }
        const DLeftShape planned = plan_dleft(requirements);
        EXPECT_LE(num_bytes(planned), memory);
        EXPECT_TRUE(oracle.meets(planned, n)) << n << " " << memory;
        const DLeftShape& expected = prefers_speed && best_of_fast ? *best_of_fast : *best;
        EXPECT_EQ(rate_of(planned, n), rate_of(expected, n)) << n << " " << memory;
      }
    }
  }
}

TEST(PlanDLeft, FromMemoryAndRateNoShapeHoldsMoreKeys) {
  const Plan result = plan({.false_positive_rate = 0.01,
                            .memory_bytes = 4000,
                            .needs_deletes = true,
                            .max_moves_per_insertion = 0.0});
  for (const Candidate& candidate : result.candidates) {
    if (candidate.kind() != FilterKind::dleft || candidate.shape.num_hashes() == 2) continue;
    const DLeftShape& planned = std::get<DLeftShape>(candidate.shape.shape);
    const Requirements requirements{
        .false_positive_rate = 0.01, .memory_bytes = 4000, .max_moves_per_insertion = 0.0};
    const Oracle oracle{requirements};
    EXPECT_EQ(plan_dleft(requirements), planned);
    EXPECT_LE(num_bytes(planned), 4000u);
    EXPECT_TRUE(oracle.meets(planned, candidate.num_keys));
    oracle.for_each_shape(200, [&](const DLeftShape& shape) {
      EXPECT_FALSE(oracle.meets(shape, candidate.num_keys + 1)) << shape.num_subtables;
    });
  }
  expect_refused([] { (void)plan_dleft({.false_positive_rate = 0.01, .memory_bytes = 100}); },
                 {"memory_bytes is 100", "for even one key"});
}

TEST(PlanDLeft, AllocatesHalfOfACountingBloomFilterAtOnePercentAndLessAtALowerRate) {
  constexpr std::uint64_t n = 1'000'000;
  const auto share = [&](double rate, bool keys_repeat, std::optional<std::uint32_t> num_subtables) {
    const CountingBloomFilter counting(plan_counting_bloom({.num_keys = n, .false_positive_rate = rate}), 1);
    const DLeftShape shape = plan_dleft({.num_keys = n,
                                         .false_positive_rate = rate,
                                         .keys_repeat = keys_repeat,
                                         .num_subtables = num_subtables});
    EXPECT_EQ(allocated_bytes(shape), num_bytes(shape));
    EXPECT_LE(rate_of(shape, n), rate);
    return static_cast<double>(allocated_bytes(shape)) /
           static_cast<double>(counting.storage().words().size_bytes());
  };
  EXPECT_LT(share(0.01, true, {}), 0.48);
  EXPECT_LT(share(0.01, true, 2), 0.49);
  EXPECT_LT(share(0.001, true, {}), 0.42);
  EXPECT_LT(share(0.001, false, {}), 0.32);
  EXPECT_LT(share(0.001, false, 2), 0.33);
}

TEST(PlanDLeft, AFilterOfThePlannedShapeIsNotFullAfterThePlannedKeys) {
  for (const std::uint64_t n : {1ull, 10ull, 100ull, 1000ull, 10'000ull, 100'000ull}) {
    for (const double rate : {0.5, 0.01, 1e-3, 1e-6}) {
      const DLeftShape shape =
          plan_dleft({.num_keys = n, .false_positive_rate = rate, .lifetime_operations = 0});
      for (std::uint64_t seed = 0; seed < (n <= 1000 ? 50u : 2u); ++seed) {
        AnyFilter filter({shape, RotationBuckets::file_id}, seed);
        std::vector<Hash128> keys(n);
        for (std::uint64_t i = 0; i < n; ++i) keys[i] = filter.hasher()(i);
        EXPECT_EQ(filter.insert_batch(keys), 0u) << n << " " << rate << " " << seed;
      }
    }
  }
}

// Without a histogram a plan is for keys that are in it up to four times each, so for shared fingerprints, too.
TEST(PlanDLeft, AFilterOfThePlannedShapeIsNotFullHoweverOftenUpToFourTimesKeysCome) {
  for (const std::uint64_t n : {100ull, 10'000ull, 200'000ull}) {
    for (const double rate : {0.3, 0.1, 0.01, 1e-3}) {
      for (const std::uint32_t max_doublings : {0u, 1u}) {
        const DLeftShape shape = plan_dleft({.num_keys = n,
                                             .false_positive_rate = rate,
                                             .lifetime_operations = 0,
                                             .max_doublings = max_doublings});
        for (const std::uint64_t times : {2u, 3u, 4u}) {
          AnyFilter filter({shape, RotationBuckets::file_id}, times);
          std::vector<Hash128> keys(n << max_doublings);
          for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = filter.hasher()(i);
          for (std::uint64_t i = 0; i < times; ++i)
            EXPECT_EQ(filter.insert_batch(keys), 0u) << n << " " << rate << " " << times;
        }
      }
    }
  }
}

TEST(PlanDLeft, AFilterOfUniqueKeysThatChurnIsNeverFullNorNeedsItsMoves) {
  constexpr std::uint64_t n = 20'000;
  const DLeftShape shape = plan_dleft(
      {.num_keys = n, .false_positive_rate = 0.001, .keys_repeat = false, .max_moves_per_insertion = 0.0});
  EXPECT_LT(shape.counter_bits, 2u);
  DLeftCountingBloomFilter<> filter(shape, 7);
  for (std::uint64_t key = 0; key < n; ++key) ASSERT_EQ(filter.insert(key), InsertResult::counted);
  for (std::uint64_t key = 0; key < 20 * n; ++key) {
    ASSERT_EQ(filter.remove(key), RemoveResult::removed);
    ASSERT_EQ(filter.insert(key + n), InsertResult::counted);
  }
  // One run in a million would, by plan.
  EXPECT_EQ(filter.totals().num_rescues, 0u);
}

TEST(PlanDLeft, FrequentKeysHaveRoomInTheSideTableAndDoublingsBitsToSpare) {
  const Requirements requirements{.num_keys = 1000, .false_positive_rate = 0.01};
  Requirements frequent = requirements;
  frequent.num_frequent_keys = 500;
  EXPECT_GE(plan_dleft(frequent).spill_capacity, 564u);
  EXPECT_LT(plan_dleft(requirements).spill_capacity, 500u);
  Requirements doubling = requirements;
  doubling.max_doublings = 4;
  const DLeftShape shape = plan_dleft(doubling);
  EXPECT_TRUE(shape.grows);
  EXPECT_EQ(shape.least_remainder_bits, shape.remainder_bits - 4);
  EXPECT_LE(rate_of(shape, 1000), 0.01);
  DLeftShape doubled = shape;
  doubled.num_doublings = 1;
  // Less than twice as many: chance parts the keys, and the fuller half has to hold.
  EXPECT_GT(static_cast<double>(planned_num_keys(doubled, 0.5)),
            1.6 * static_cast<double>(planned_num_keys(shape, 0.5)));
  EXPECT_LT(planned_num_keys(doubled, 0.5), 2 * planned_num_keys(shape, 0.5));
}

TEST(PlanDLeft, AHistogramSaysHowManyKeysNeedTheSideTable) {
  // 100 keys are in it 100 times: at any width of counters they spill, and hardly any other does.
  const auto histogram = theory::make_count_histogram({{1, 9900.0}, {100, 100.0}}, 256);
  const DLeftShape shape = plan_dleft({.false_positive_rate = 0.001, .histogram = histogram});
  EXPECT_GE(shape.spill_capacity, 164u);
  EXPECT_LE(shape.spill_capacity, 1000u);
  DLeftCountingBloomFilter<> filter(shape, 3);
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    for (int i = 0; i < (key < 100 ? 100 : 1); ++i) ASSERT_EQ(filter.insert(key), InsertResult::counted);
  }
  // Counters of 4 bits hold what keys of 16 have.
  const auto often = theory::make_count_histogram({{16, 10'000.0}}, 256);
  EXPECT_EQ(plan_dleft({.false_positive_rate = 0.001, .histogram = often}).counter_bits, 4u);
}

TEST(PlanDLeft, ALongerLifeAndALessLikelyFailureTakeMoreMemory) {
  const auto bytes = [](std::uint64_t operations, double failure) {
    return num_bytes(plan_dleft({.num_keys = 100'000,
                                 .false_positive_rate = 0.01,
                                 .lifetime_operations = operations,
                                 .failure_probability = failure,
                                 .max_moves_per_insertion = 0.0}));
  };
  EXPECT_LT(bytes(0, 1e-6), bytes(1, 1e-6));
  EXPECT_LT(bytes(1'000'000, 1e-6), bytes(1'000'000'000'000, 1e-6));
  EXPECT_LT(bytes(1'000'000, 1e-3), bytes(1'000'000, 1e-12));
}

TEST(PlanDLeft, RefusesWhatIsOutOfRangeOrCannotBe) {
  const auto refused = [](const Requirements& requirements, const char* part) {
    expect_refused([&] { (void)plan_dleft(requirements); }, {"plan_dleft: ", part});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({.num_keys = 10}, "exactly two");
  refused({.num_keys = 0, .false_positive_rate = 0.1}, "num_keys is 0; must be 1 to ");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .failure_probability = 0.0},
          "failure_probability is 0");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .num_subtables = 0},
          "num_subtables is 0; must be 2 to 4, or not given");
  refused({.num_keys = 9, .false_positive_rate = 0.1, .memory_bytes = 10}, "all three");
  refused({.num_keys = (1ull << 40) + 1, .false_positive_rate = 0.1}, "num_keys is");
  for (const double rate : {1.0, -1.0, nan}) {
    refused({.num_keys = 10, .false_positive_rate = rate}, "false_positive_rate is");
    refused({.num_keys = 10, .false_positive_rate = 0.1, .failure_probability = rate},
            "failure_probability is");
  }
  refused({.num_keys = 10, .false_positive_rate = 0.1, .num_frequent_keys = (1ull << 31) + 1},
          "num_frequent_keys");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .num_frequent_keys = 1, .keys_repeat = false},
          "keys_repeat");
  refused(
      {.num_keys = 10, .false_positive_rate = 0.1, .histogram = theory::make_count_histogram({{1, 5.0}}, 10)},
      "histogram");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .max_doublings = 29}, "max_doublings");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .max_doublings = 27}, "false_positive_rate is 0.1");
  refused({.num_keys = 10, .false_positive_rate = 0.1, .num_subtables = 5}, "num_subtables is 5");
  refused({.num_keys = 1ull << 40, .false_positive_rate = 1e-12}, "false_positive_rate is");
  expect_refused([] { (void)planned_num_keys(DLeftShape{.buckets_per_subtable = 10}, 1.0); },
                 {"false_positive_rate is 1"});
}

TEST(PlannedNumKeys, OfALayoutThatIsNotPlannedForFollowsTheTheory) {
  const DLeftShape shape{.buckets_per_subtable = 1000, .num_subtables = 4, .cells_per_bucket = 12};
  const double load =
      static_cast<double>(planned_num_keys(shape, 0.1)) / static_cast<double>(shape.num_cells());
  EXPECT_GT(load, 0.79);  // between those of 8 and 16 cells per bucket
  EXPECT_LT(load, 0.89);
}

}  // namespace
}  // namespace tally

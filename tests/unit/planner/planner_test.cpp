#include "tally/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "tally/any_filter.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/blocked_bloom.hpp"
#include "tally/theory/blocked_counters.hpp"
#include "tally/theory/bloom.hpp"
#include "tally/theory/coinciding_positions.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/counter_overflow.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "tally/theory/register_bloom.hpp"
#include "tally/theory/threshold.hpp"

namespace tally {
namespace {

using test::expect_refused;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr std::uint64_t most_that_fill_words = 4096;

/// ln of the rate of a Bloom filter: counted where that is quick.
double ln_true_rate(std::uint64_t m, std::uint32_t k, std::uint64_t n) {
  if (m > std::uint64_t{1} << 18) return theory::ln_false_positive_probability(m, k, n);
  return std::uint64_t{k} * k * n <= std::uint64_t{1} << 20
             ? theory::ln_false_positive_probability_occupancy(m, k, n)
             : theory::ln_false_positive_probability_expansion(m, k, n);
}

TEST(PlanBloom, MeetsTheRateAndNoKDoesWithOneBitLess) {
  for (const std::uint64_t n : {1ull, 2ull, 10ull, 100ull, 1000ull, 1'000'000ull, 1'000'000'000'000ull}) {
    for (const double rate : {0.9, 0.5, 0.1, 0.01, 1e-6, 1e-30}) {
      const BloomShape shape = plan_bloom({.num_keys = n, .false_positive_rate = rate});
      const double ln_rate = std::log(rate);
      EXPECT_LE(ln_true_rate(shape.num_bits, shape.num_hashes, n), ln_rate);
      const bool fills_words = shape.num_bits <= most_that_fill_words;
      EXPECT_EQ(fills_words ? shape.num_bits % 64 : 0, 0u);
      const std::uint64_t less = shape.num_bits - (fills_words ? 64 : 1);
      if (less == 0) continue;
      for (std::uint32_t k = 1; k <= 2 * shape.num_hashes + 8; k += 1 + k / 16) {
        ASSERT_GT(ln_true_rate(less, k, n), ln_rate) << "n " << n << " rate " << rate << " k " << k;
        EXPECT_GE(ln_true_rate(shape.num_bits, k, n) + 1e-6,
                  fills_words ? ln_true_rate(shape.num_bits, shape.num_hashes, n) : -infinity);
      }
      for (std::uint32_t k = 1; k < shape.num_hashes && !fills_words; ++k)
        ASSERT_GT(ln_true_rate(shape.num_bits, k, n), ln_rate) << "fewer hashes do";
    }
  }
}

TEST(PlanBloom, KeepsThePromiseFromOneKeyToAThousandByEveryScheme) {
  for (const std::uint64_t n : {1ull, 2ull, 3ull, 5ull, 9ull, 20ull, 60ull, 120ull, 1000ull}) {
    for (const double rate : {0.5, 0.2, 0.01, 1e-3, 1e-6, 1e-12, 1e-20, 1e-30}) {
      const BloomShape shape = plan_bloom({.num_keys = n, .false_positive_rate = rate});
      EXPECT_LE(theory::ln_false_positive_probability_occupancy(shape.num_bits, shape.num_hashes, n),
                std::log(rate))
          << "n " << n << " rate " << rate;
    }
    for (const char* scheme : {"congruential", "standard", "partitioned", "partition-double", "double",
                               "enhanced-double-quadratic", "enhanced-double-cubic"}) {
      const Plan made = plan({.num_keys = n, .false_positive_rate = 0.01, .scheme = scheme});
      const Candidate& bloom = *std::ranges::find(made.candidates, FilterKind::bloom, &Candidate::kind);
      const SchemeLaw law = false_positive_law(bloom.shape, n, 0x1p22);
      if (n > 20 && law.kind == LawKind::limit) continue;  // takes too many steps
      EXPECT_EQ(law.kind, LawKind::exact) << scheme << " n " << n;
      EXPECT_LE(law.ln_false_positive_rate, std::log(0.01)) << scheme << " n " << n;
      EXPECT_NEAR(bloom.false_positive_rate, std::exp(law.ln_false_positive_rate), 1e-5)
          << scheme << " n " << n;
    }
  }
}

TEST(Plan, MoreMemoryIsNeverWorse) {
  std::mt19937_64 random(20261128);
  for (int request = 0; request < 40; ++request) {
    const auto num_keys =
        static_cast<std::uint64_t>(std::exp(std::uniform_real_distribution(0.0, 16.0)(random)));
    const double first_bytes =
        std::max(8.0, std::uniform_real_distribution(0.1, 9.0)(random) * static_cast<double>(num_keys));
    std::map<FilterKind, double> before;
    for (const double factor : {1.0, 1.001, 1.02, 1.1, 1.5, 2.0, 4.0}) {
      const auto memory = static_cast<std::uint64_t>(first_bytes * factor);
      const Plan made =
          plan({.num_keys = num_keys, .memory_bytes = memory, .needs_deletes = request % 2 == 0});
      std::map<FilterKind, double> least;  // a d-left filter may have cells of two widths
      for (const Candidate& candidate : made.candidates) {
        const auto found = least.try_emplace(candidate.kind(), candidate.false_positive_rate).first;
        found->second = std::min(found->second, candidate.false_positive_rate);
      }
      for (const auto& [kind, rate] : least) {
        const auto last = before.find(kind);
        if (last != before.end()) {
          EXPECT_LE(rate, last->second * (1 + 1e-12))
              << name_of(kind) << " with " << num_keys << " keys and " << memory << " bytes";
        }
        before[kind] = rate;
      }
    }
  }
}

TEST(PlanBloom, NeverExceedsTheMemoryAndNoOtherKIsBetter) {
  for (const std::uint64_t memory : {8ull, 15ull, 64ull, 1000ull, 1ull << 20, 1ull << 40}) {
    for (const std::uint64_t n : {1ull, 7ull, 100'000ull, 1'000'000'000ull}) {
      const BloomShape shape = plan_bloom({.num_keys = n, .memory_bytes = memory});
      EXPECT_LE(num_bytes(shape), memory);
      EXPECT_GT(num_bytes(shape) + 8, memory);
      const double chosen = ln_true_rate(shape.num_bits, shape.num_hashes, n);
      for (std::uint32_t k = 1; k <= std::min(1024u, 2 * shape.num_hashes + 8); k += 1 + k / 16) {
        ASSERT_LE(chosen, ln_true_rate(shape.num_bits, k, n) + 1e-6) << k;
      }
    }
  }
}

TEST(PlanBloom, FromMemoryAndRateNoKCarriesMoreKeys) {
  const BloomShape shape = plan_bloom({.false_positive_rate = 0.01, .memory_bytes = 1 << 20});
  const std::uint64_t most = planned_num_keys(shape, 0.01);
  EXPECT_LE(theory::false_positive_probability(shape.num_bits, shape.num_hashes, most), 0.01);
  for (std::uint32_t k = 1; k <= 64; ++k) {
    EXPECT_GT(theory::false_positive_probability(shape.num_bits, k, most + 1), 0.01) << k;
  }
}

TEST(PlanBloom, GoesThereAndBack) {
  for (const std::uint64_t n : {1ull, 100ull, 123'456ull, 1'000'000'000ull}) {
    const BloomShape shape = plan_bloom({.num_keys = n, .false_positive_rate = 1e-3});
    EXPECT_GE(planned_num_keys(shape, 1e-3), n);
    const BloomShape again = plan_bloom({.num_keys = n, .memory_bytes = num_bytes(shape)});
    EXPECT_LE(theory::false_positive_probability(again.num_bits, again.num_hashes, n), 1e-3);
  }
}

TEST(PlanBloom, TakesMoreForMoreKeysAndForALowerRate) {
  std::uint64_t last = 0;
  for (std::uint64_t n = 1; n < 1'000'000'000; n = n * 3 + 1) {
    const std::uint64_t bits = plan_bloom({.num_keys = n, .false_positive_rate = 0.02}).num_bits;
    EXPECT_TRUE(bits > last || (bits == last && bits <= most_that_fill_words)) << bits;
    last = bits;
  }
  last = 0;
  for (double rate = 0.5; rate > 1e-200; rate /= 7) {
    const std::uint64_t bits = plan_bloom({.num_keys = 1000, .false_positive_rate = rate}).num_bits;
    EXPECT_TRUE(bits > last || (bits == last && bits <= most_that_fill_words)) << bits;
    last = bits;
  }
}

TEST(PlanBloom, RefusesWhatIsNotTwoOfThreeAndSaysWhat) {
  const std::string rule = "give exactly two of num_keys, false_positive_rate and memory_bytes";
  expect_refused([] { (void)plan_bloom({}); }, {"plan_bloom", rule, "none"});
  expect_refused([] { (void)plan_bloom({.num_keys = 1}); }, {rule, "only num_keys"});
  expect_refused([] { (void)plan_bloom({.false_positive_rate = 0.1}); }, {rule, "only false_positive_rate"});
  expect_refused([] { (void)plan_bloom({.memory_bytes = 100}); }, {rule, "only memory_bytes"});
  expect_refused([] { (void)plan_bloom({.num_keys = 1, .false_positive_rate = 0.1, .memory_bytes = 100}); },
                 {rule, "all three"});
}

TEST(PlanBloom, RefusesAZeroThatWasGiven) {
  expect_refused([] { (void)plan_bloom({.num_keys = 0, .false_positive_rate = 0.1}); },
                 {"plan_bloom: num_keys is 0; must be 1 to 72057594037927936, or not given"});
  expect_refused([] { (void)plan_bloom({.num_keys = 10, .false_positive_rate = 0.0}); },
                 {"plan_bloom: false_positive_rate is 0; must be above 0 and below 1, or not given"});
  expect_refused([] { (void)plan_bloom({.num_keys = 10, .memory_bytes = 0}); },
                 {"plan_bloom: memory_bytes is 0; must be 8 to 18446744073709551615, or not given"});
}

TEST(PlanBloom, RefusesValuesOutOfRange) {
  for (const double rate : {nan, infinity, -infinity, -0.5, 1.0, 2.0}) {
    expect_refused([&] { (void)plan_bloom({.num_keys = 10, .false_positive_rate = rate}); },
                   {"plan_bloom: false_positive_rate is ", "above 0 and below 1"});
    expect_refused([&] { (void)planned_num_keys(BloomShape{100, 3}, rate); }, {"false_positive_rate is "});
  }
  const std::uint64_t minus_one = ~std::uint64_t{0};
  expect_refused([&] { (void)plan_bloom({.num_keys = minus_one, .false_positive_rate = 0.1}); },
                 {"num_keys is 18446744073709551615", "1 to 72057594037927936"});
  expect_refused([] { (void)plan_bloom({.num_keys = 10, .memory_bytes = 7}); },
                 {"memory_bytes is 7", "8 to"});
  expect_refused([] { (void)plan_bloom({.false_positive_rate = 1e-30, .memory_bytes = 8}); },
                 {"memory_bytes is 8", "even one key"});
  expect_refused([] { (void)plan_bloom({.num_keys = 1ull << 56, .false_positive_rate = 0.01}); },
                 {"2^56 positions"});
}

TEST(PlanBloom, AMemoryPastAllPositionsStopsAtTheMost) {
  const BloomShape shape = plan_bloom({.num_keys = 1ull << 50, .memory_bytes = ~std::uint64_t{0}});
  EXPECT_EQ(shape.num_bits, 1ull << 56);
}

TEST(PlanBlockedBloom, MeetsTheRateWithWholeLinesAndOneLineFewerMissesIt) {
  for (const std::uint64_t n : {1ull, 1000ull, 1'000'000ull}) {
    for (const double rate : {0.1, 0.01, 1e-4}) {
      const BlockedBloomShape shape = plan_blocked_bloom({.num_keys = n, .false_positive_rate = rate});
      ASSERT_EQ(shape.num_bits % 512, 0u);
      const std::uint64_t lines = shape.num_bits / 512;
      EXPECT_LE(theory::blocked_bloom_false_positive_probability(lines, 512, shape.num_hashes, n), rate);
      for (std::uint32_t k = 1; k <= 32 && lines > 1; ++k) {
        EXPECT_GT(theory::blocked_bloom_false_positive_probability(lines - 1, 512, k, n), rate) << k;
      }
    }
  }
  EXPECT_LE(num_bytes(plan_blocked_bloom({.num_keys = 1000, .memory_bytes = 1000})), 1000u);
  expect_refused([] { (void)plan_blocked_bloom({.num_keys = 1000, .memory_bytes = 63}); },
                 {"memory_bytes is 63"});
}

TEST(PlanRegisterBlockedBloom, MeetsTheRateWithWholeLinesAndOneLineFewerMissesIt) {
  const auto rate_of = [](std::uint64_t lines, std::uint32_t k, std::uint64_t n) {
    return theory::register_bloom_false_positive_probability(lines, 8, 64, k, n);
  };
  for (const std::uint64_t n : {1ull, 1000ull, 1'000'000ull}) {
    for (const double rate : {0.1, 0.01, 1e-4}) {
      const BlockedBloomShape shape =
          plan_register_blocked_bloom({.num_keys = n, .false_positive_rate = rate});
      ASSERT_EQ(shape.num_bits % 512, 0u);
      const std::uint64_t lines = shape.num_bits / 512;
      EXPECT_LE(rate_of(lines, shape.num_hashes, n), rate);
      for (std::uint32_t k = 8; k <= 64 && lines > 1; k += 8) EXPECT_GT(rate_of(lines - 1, k, n), rate) << k;
      EXPECT_EQ(RegisterBlockedBloomFilter(shape, 1).shape(), shape);
    }
  }
  EXPECT_LE(num_bytes(plan_register_blocked_bloom({.num_keys = 1000, .memory_bytes = 1000})), 1000u);
  expect_refused([] { (void)plan_register_blocked_bloom({.num_keys = 1000, .memory_bytes = 63}); },
                 {"plan_register_blocked_bloom: memory_bytes is 63"});
}

TEST(PlanCountingBloom, TakesFourBitsUnlessTheThresholdOrSaturationNeedMore) {
  const CountingBloomShape set = plan_counting_bloom({.num_keys = 1'000'000, .false_positive_rate = 0.01});
  EXPECT_EQ(set.counter_bits, 4u);
  EXPECT_EQ(set.num_counters, plan_bloom({.num_keys = 1'000'000, .false_positive_rate = 0.01}).num_bits);
  EXPECT_LE(theory::counter_overflow_union_bound(set.num_counters, set.num_hashes, 1'000'000, 15), 1e-6);

  const CountingBloomShape huge =
      plan_counting_bloom({.num_keys = 1'000'000'000'000, .false_positive_rate = 0.01});
  EXPECT_EQ(huge.counter_bits, 4u);
  EXPECT_EQ(
      plan_counting_bloom(
          {.num_keys = 1'000'000'000'000, .false_positive_rate = 0.01, .max_saturation_probability = 1e-6})
          .counter_bits,
      5u);
  EXPECT_GT(theory::counter_overflow_union_bound(huge.num_counters, huge.num_hashes, 1'000'000'000'000, 15),
            1e-6);

  const CountingBloomShape deep =
      plan_counting_bloom({.num_keys = 1000, .false_positive_rate = 0.01, .threshold = 100});
  EXPECT_EQ(deep.counter_bits, 7u);
  EXPECT_EQ(deep.max_threshold, 100u);
  EXPECT_EQ(plan_counting_bloom({.num_keys = 9, .false_positive_rate = 0.1, .counter_bits = 2}).counter_bits,
            2u);
}

TEST(PlanCountingBloom, NeverExceedsTheMemoryAtAnyWidth) {
  for (const std::uint32_t bits : {1u, 3u, 5u, 7u, 16u, 64u}) {
    const CountingBloomShape shape =
        plan_counting_bloom({.num_keys = 1000, .memory_bytes = 12'345, .counter_bits = bits});
    EXPECT_LE(num_bytes(shape), 12'345u);
    EXPECT_GT(num_bytes(shape) + 8, 12'345u);
  }
}

TEST(PlanCountingBloom, RefusesWidthsAndBoundsThatThereAreNot) {
  expect_refused(
      [] { (void)plan_counting_bloom({.num_keys = 9, .false_positive_rate = 0.1, .counter_bits = 9}); },
      {"counter_bits is 9"});
  expect_refused(
      [] {
        (void)plan_counting_bloom(
            {.num_keys = 9, .false_positive_rate = 0.1, .threshold = 16, .counter_bits = 4});
      },
      {"max_threshold is 16"});
  expect_refused(
      [] { (void)plan_counting_bloom({.num_keys = 9, .false_positive_rate = 0.1, .counter_bits = 0}); },
      {"counter_bits is 0; must be 1 to 8, 16, 32 or 64"});
  for (const double bound : {0.0, 1.0, nan, -1.0}) {
    expect_refused(
        [&] {
          (void)plan_counting_bloom(
              {.num_keys = 9, .false_positive_rate = 0.1, .max_saturation_probability = bound});
        },
        {"max_saturation_probability"});
  }
}

// But for keys of which two positions coincide: these counters reach the threshold without another key.
TEST(PlanThreshold, PromisesByDefaultWhatABloomFilterOfTheDistinctKeysDoes) {
  const ThresholdShape shape =
      plan_threshold({.num_keys = 50'000, .false_positive_rate = 0.01, .threshold = 5});
  const BloomShape bloom = plan_bloom({.num_keys = 50'000, .false_positive_rate = 0.01});
  EXPECT_GT(shape.num_counters, bloom.num_bits);
  EXPECT_LE(shape.num_counters, bloom.num_bits + 10);
  EXPECT_EQ(shape.num_hashes, bloom.num_hashes);
  EXPECT_EQ(shape.threshold, 5u);
  EXPECT_EQ(planned_num_keys(shape, 0.01), 50'000u);
}

TEST(PlanThreshold, ForKeysNeverInsertedNoKDoesWithOneCounterLess) {
  for (const std::uint64_t theta : {2ull, 3ull, 10ull, 100ull}) {
    const ThresholdShape shape = plan_threshold(
        {.num_keys = 100'000, .false_positive_rate = 0.001, .threshold = theta, .true_count = 0});
    const auto rate = [&](std::uint64_t m, std::uint32_t k) {
      const double reached = theory::threshold_false_positive_probability(theta, 1, 100'000 * k, m);
      return std::exp(theory::ln_mean_over_coinciding_positions(m, k, {&reached, 1}));
    };
    EXPECT_LE(rate(shape.num_counters, shape.num_hashes), 0.001);
    const std::uint64_t per_word = 64 / counter_bits_for(shape);
    const std::uint64_t less = shape.num_counters > most_that_fill_words ? 1 : per_word;
    for (std::uint32_t k = 1; k <= 64; ++k)
      EXPECT_GT(rate(shape.num_counters - less, k), 0.001) << theta << " " << k;
  }
}

TEST(PlanThreshold, MemoryIsAHardBoundForEveryTrueCount) {
  for (const std::uint64_t t : {0ull, 1ull, 2ull, 3ull}) {
    const ThresholdShape shape = plan_threshold(
        {.num_keys = 1000, .memory_bytes = 999, .threshold = 4, .true_count = t, .num_insertions = 3000});
    EXPECT_LE(num_bytes(shape), 999u);
    EXPECT_GT(num_bytes(shape) + 8, 999u);
  }
}

TEST(PlanThreshold, AHistogramIsPlannedWithItsCompoundLaw) {
  const theory::CountHistogram histogram = theory::zipf_count_histogram(10'000, 1.1, 50'000, 64);
  const ThresholdShape shape =
      plan_threshold({.false_positive_rate = 0.01, .threshold = 5, .true_count = 1, .histogram = histogram});
  const auto rate = [&](std::uint64_t m, std::uint32_t k) {
    // A counter that four positions share reaches 5 with any other key, one of five or more without.
    double w[5];
    for (std::uint64_t j = 1; j <= 4; ++j)
      w[j - 1] = std::exp(theory::ln_counter_upper_tail(histogram, k, m, 5 - j));
    w[4] = 1;
    return std::exp(theory::ln_mean_over_coinciding_positions(m, k, w));
  };
  EXPECT_LE(rate(shape.num_counters, shape.num_hashes), 0.01);
  for (std::uint32_t k = 1; k <= 20; ++k) EXPECT_GT(rate(shape.num_counters - 1, k), 0.01) << k;
}

TEST(PlanThreshold, RefusesATrueCountAtTheThresholdAndContradictions) {
  expect_refused(
      [] {
        (void)plan_threshold({.num_keys = 9, .false_positive_rate = 0.1, .threshold = 3, .true_count = 3});
      },
      {"true_count is 3", "0 to 2"});
  expect_refused([] { (void)plan_threshold({.num_keys = 9, .false_positive_rate = 0.1, .threshold = 0}); },
                 {"threshold is 0"});
  expect_refused(
      [] {
        (void)plan_threshold({.num_keys = 9,
                              .false_positive_rate = 0.1,
                              .threshold = 3,
                              .true_count = 0,
                              .num_insertions = 0});
      },
      {"plan_threshold: num_insertions is 0; must be 9 to 72057594037927936, or not given"});
  expect_refused(
      [] { (void)plan_threshold({.num_keys = 9, .false_positive_rate = 0.1, .threshold = 1ull << 32}); },
      {"threshold is 4294967296"});
  expect_refused(
      [] {
        (void)plan_threshold({.num_keys = 9,
                              .false_positive_rate = 0.1,
                              .threshold = 3,
                              .histogram = theory::make_count_histogram({{1, 5.0}}, 10)});
      },
      {"histogram", "num_keys", "leave the latter out"});
}

double shared_rate(const DuplicateShape& shape, std::uint64_t num_keys) {
  return theory::blocked_bloom_false_positive_probability(shape.num_bits / 64, 64, shape.num_hashes,
                                                          num_keys);
}

TEST(PlanDuplicate, MeetsTheRateWithTheFewestWords) {
  for (const std::uint64_t num_keys : {1u, 1000u, 1'000'000u}) {
    for (const double rate : {0.3, 0.01, 1e-4}) {
      const DuplicateShape shape = plan_duplicate({.num_keys = num_keys, .false_positive_rate = rate});
      EXPECT_LE(shared_rate(shape, num_keys), rate);
      EXPECT_GE(planned_num_keys(shape, rate), num_keys);
      for (std::uint32_t k = 1; k <= DuplicateShape::max_num_hashes && shape.num_bits > 64; ++k)
        EXPECT_GT(shared_rate({shape.num_bits - 64, k}, num_keys), rate) << num_keys << ' ' << k;
    }
  }
}

TEST(PlanDuplicate, FillsTheMemoryWithTheBestNumberOfHashes) {
  const DuplicateShape shape = plan_duplicate({.num_keys = 1000, .memory_bytes = 1503});
  EXPECT_EQ(num_bytes(shape), 1496u);
  for (std::uint32_t k = 1; k <= DuplicateShape::max_num_hashes; ++k)
    EXPECT_GE(shared_rate({shape.num_bits, k}, 1000), shared_rate(shape, 1000));
  const DuplicateShape most = plan_duplicate({.false_positive_rate = 0.01, .memory_bytes = 1503});
  EXPECT_EQ(num_bytes(most), 1496u);
  EXPECT_GE(planned_num_keys(most, 0.01), planned_num_keys(shape, 0.01));
}

TEST(PlanDuplicate, TakesTheBitsPerKeyThatItsPageSays) {
  const auto bits_per_key = [](double rate) {
    return static_cast<double>(
               plan_duplicate({.num_keys = 1'000'000, .false_positive_rate = rate}).num_bits) /
           1e6;
  };
  EXPECT_NEAR(bits_per_key(0.01), 12.1, 0.05);
  EXPECT_NEAR(bits_per_key(0.001), 24.0, 0.05);
  EXPECT_NEAR(bits_per_key(1e-4), 45.5, 0.05);
}

TEST(PlanDuplicate, RefusesWhatNoShapeMeets) {
  expect_refused([] { (void)plan_duplicate({.num_keys = 10}); }, {"plan_duplicate", "only num_keys"});
  expect_refused([] { (void)plan_duplicate({.num_keys = 1ull << 50, .false_positive_rate = 1e-15}); },
                 {"plan_duplicate", "2^56 positions and 10 hashes"});
  expect_refused([] { (void)planned_num_keys(DuplicateShape{100, 2}, 0.01); }, {"num_bits is 100"});
  expect_refused([] { (void)planned_num_keys(DuplicateShape{128, 2}, 0); }, {"false_positive_rate"});
}

TEST(PlanShape, IsWhatTheFunctionOfTheKindPlansInTheDefaultScheme) {
  const Requirements wanted{.num_keys = 1000, .false_positive_rate = 0.01, .threshold = 3};
  EXPECT_EQ(plan_shape(FilterKind::bloom, wanted), (FilterShape{plan_bloom(wanted), DefaultScheme::file_id}));
  EXPECT_EQ(plan_shape(FilterKind::blocked_bloom, wanted),
            (FilterShape{plan_blocked_bloom(wanted), BlockedScheme::file_id}));
  Requirements registers = wanted;
  registers.scheme = RegisterBlockedScheme::name;
  const FilterShape of_registers = plan_shape(FilterKind::blocked_bloom, registers);
  EXPECT_EQ(of_registers,
            (FilterShape{plan_register_blocked_bloom(registers), RegisterBlockedScheme::file_id}));
  EXPECT_GE(planned_num_keys(of_registers, 0.01), 1000u);
  EXPECT_EQ(plan_shape(FilterKind::counting_bloom, wanted),
            (FilterShape{plan_counting_bloom(wanted), DefaultScheme::file_id}));
  EXPECT_EQ(plan_shape(FilterKind::threshold, wanted),
            (FilterShape{plan_threshold(wanted), DefaultScheme::file_id}));
  EXPECT_EQ(plan_shape(FilterKind::dleft, wanted),
            (FilterShape{plan_dleft(wanted), RotationBuckets::file_id}));
  const Requirements sketch{.epsilon = 0.01, .failure_probability = 0.01};
  EXPECT_EQ(plan_shape(FilterKind::count_min, sketch),
            (FilterShape{plan_count_min(sketch), DefaultRows::file_id}));
  for (const FilterKind kind : {FilterKind::bloom, FilterKind::blocked_bloom, FilterKind::counting_bloom,
                                FilterKind::threshold, FilterKind::dleft}) {
    const FilterShape shape = plan_shape(kind, wanted);
    EXPECT_EQ(shape.kind(), kind);
    EXPECT_GE(planned_num_keys(shape, 0.01), 1000u) << name_of(kind);
    EXPECT_EQ(AnyFilter(shape, 1).shape(), shape);
  }
  expect_refused([&] { (void)planned_num_keys(plan_shape(FilterKind::count_min, sketch), 0.01); },
                 {"planned_num_keys", "a count-min sketch"});
}

TEST(PlanShape, RoundsToTheSchemeUpForARateAndDownForAMemory) {
  const Requirements rate{.num_keys = 1000, .false_positive_rate = 0.01};
  const Requirements memory{.num_keys = 1000, .memory_bytes = 1000};
  for (const std::string_view scheme : {"double", "partitioned", "partition-double"}) {
    const auto planned = [&](Requirements wanted) {
      wanted.scheme = scheme;
      return plan_shape(FilterKind::bloom, wanted);
    };
    const auto of_scheme = [&](Requirements wanted) {
      wanted.scheme = scheme;
      return FilterShape{plan_bloom(wanted), scheme_id(scheme)};
    };
    EXPECT_EQ(planned(rate), round_to_scheme(of_scheme(rate), Rounding::up));
    EXPECT_LE(false_positive_law(planned(rate), 1000).ln_false_positive_rate, std::log(0.01)) << scheme;
    EXPECT_EQ(planned(memory), round_to_scheme(of_scheme(memory), Rounding::down));
    EXPECT_LE(planned(memory).num_bytes(), 1000u) << scheme;
  }
  const FilterShape multiplier =
      plan_shape(FilterKind::dleft, {.num_keys = 1000, .false_positive_rate = 0.01, .scheme = "multiplier"});
  EXPECT_TRUE(std::has_single_bit(std::get<DLeftShape>(multiplier.shape).buckets_per_subtable));
  EXPECT_GE(planned_num_keys(multiplier, 0.01), 1000u);
  expect_refused(
      [] {
        (void)plan_shape(FilterKind::dleft,
                         {.num_keys = 1000, .memory_bytes = 10'000, .scheme = "multiplier"});
      },
      {"plan_shape: memory_bytes", "'multiplier'", "give num_keys and false_positive_rate"});
  expect_refused([&] { (void)plan_shape(FilterKind::bloom, {.num_keys = 1, .scheme = "rotation"}); },
                 {"BloomFilter: scheme is 'rotation'"});
  const FilterShape two_hash =
      plan_shape(FilterKind::count_min, {.scheme = "two-hash", .epsilon = 0.01, .failure_probability = 0.01});
  EXPECT_EQ(std::get<CountMinShape>(two_hash.shape),
            plan_count_min_two_hash({.epsilon = 0.01, .failure_probability = 0.01}));
}

TEST(HistogramOfCounts, CountsKeysAndLeavesOutZeros) {
  const std::vector<std::uint64_t> counts = {1, 1, 2, 0, 9, 10, 1000};
  const theory::CountHistogram histogram = histogram_of_counts(counts, 10);
  EXPECT_EQ(histogram.keys_with_count.at(1), 2);
  EXPECT_EQ(histogram.keys_with_count.at(2), 1);
  EXPECT_EQ(histogram.keys_with_count.at(9), 1);
  EXPECT_EQ(histogram.keys_beyond, 2);
  EXPECT_EQ(histogram.num_distinct(), 6);
}

// ---- plan(): candidates side by side

std::vector<std::string> kinds_of(const Plan& plan) {
  std::vector<std::string> kinds;
  for (const Candidate& candidate : plan.candidates) kinds.emplace_back(name_of(candidate.kind()));
  return kinds;
}

bool warns_of(const Plan& plan, const std::string& text) {
  for (const std::string& warning : plan.warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Plan, OffersWhatTheJobAllowsAndRecommendsTheSmallest) {
  const Plan set = plan({.num_keys = 100'000, .false_positive_rate = 0.01});
  EXPECT_EQ(kinds_of(set), (std::vector<std::string>{"bloom", "blocked-bloom", "counting-bloom", "dleft"}));
  for (const Candidate& other : set.candidates)
    EXPECT_GE(other.shape.num_bytes(), set.recommended().shape.num_bytes());
  EXPECT_EQ(kinds_of(plan({.num_keys = 9, .false_positive_rate = 0.01, .needs_deletes = true})),
            (std::vector<std::string>{"counting-bloom", "blocked-counting-bloom", "dleft"}));
  EXPECT_EQ(kinds_of(plan({.num_keys = 9, .false_positive_rate = 0.01, .threshold = 3})),
            (std::vector<std::string>{"threshold", "counting-bloom", "dleft"}));
  EXPECT_EQ(
      kinds_of(plan({.num_keys = 9, .false_positive_rate = 0.01, .threshold = 3, .num_insertions = 99})),
      (std::vector<std::string>{"threshold", "threshold", "counting-bloom", "dleft"}));
}

TEST(Plan, TellsWhatOneLinePerKeyCosts) {
  const Plan of_rate = plan({.num_keys = 100'000, .false_positive_rate = 0.01, .needs_deletes = true});
  const auto found =
      std::ranges::find(of_rate.candidates, FilterKind::blocked_counting_bloom, &Candidate::kind);
  ASSERT_NE(found, of_rate.candidates.end());
  EXPECT_EQ(found->cache_lines.insert, 1);
  EXPECT_EQ(found->cache_lines.lookup_absent, 1);
  EXPECT_LE(found->false_positive_rate, 0.01);
  EXPECT_EQ(std::get<BlockedCountingBloomShape>(found->shape.shape),
            plan_blocked_counting_bloom({.num_keys = 100'000, .false_positive_rate = 0.01}));
  EXPECT_NE(of_rate.reason.find("% more memory than counting-bloom, and touches one cache line per key"),
            std::string::npos)
      << of_rate.reason;
  const Plan of_memory = plan({.num_keys = 100'000, .memory_bytes = 500'000, .needs_deletes = true});
  EXPECT_NE(of_memory.reason.find("; blocked-counting-bloom has a false positive rate of "),
            std::string::npos)
      << of_memory.reason;
}

// Two positions of a key that coincide raise their counter twice, so a key that was inserted once may reach 2 by itself.
TEST(PlanBlockedCountingBloom, KeepsItsRateForKeysThatAreInIt) {
  for (const double rate : {0.1, 0.01, 1e-4}) {
    for (const std::uint64_t theta : {2, 5, 15}) {
      const BlockedCountingBloomShape shape =
          plan_blocked_counting_bloom({.num_keys = 10'000, .false_positive_rate = rate, .threshold = theta});
      const theory::RepeatedKeys others{1, 10'000};
      const double exact = theory::blocked_threshold_false_positive_probability(
          theta, shape.num_counters / 128, 128, shape.num_hashes, {&others, 1}, theta - 1);
      EXPECT_LE(exact, rate) << theta;
      EXPECT_GT(exact, 0.98 * rate) << theta;
      const std::uint64_t num_keys = planned_num_keys(shape, rate);
      EXPECT_GE(num_keys, 10'000);
      EXPECT_LT(num_keys, 10'200);
    }
  }
}

TEST(PlanBlockedCountingBloom, MeetsTheRateAndHasTheFewestLines) {
  for (const double rate : {0.1, 0.01, 0.001}) {
    const BlockedCountingBloomShape shape =
        plan_blocked_counting_bloom({.num_keys = 10'000, .false_positive_rate = rate});
    EXPECT_EQ(shape.counter_bits, 4u);
    const auto ln_rate = [&](std::uint64_t num_lines) {
      return theory::ln_blocked_bloom_false_positive_probability(num_lines, 128, shape.num_hashes, 10'000);
    };
    EXPECT_LE(ln_rate(shape.num_counters / 128), std::log(rate));
    EXPECT_GT(ln_rate(shape.num_counters / 128 - 1), std::log(rate));
    EXPECT_GE(planned_num_keys(shape, rate), 10'000u);
  }
  // Below this rate more hashes would take less memory, but the fast loops take no more.
  EXPECT_EQ(plan_blocked_counting_bloom({.num_keys = 100, .false_positive_rate = 1e-9}).num_hashes, 15u);
  EXPECT_EQ(plan_blocked_counting_bloom({.num_keys = 100, .false_positive_rate = 0.01, .threshold = 16})
                .counter_bits,
            5u);
}

TEST(Plan, EveryCandidateBecomesAFilterByItsShape) {
  for (const Requirements& requirements :
       {Requirements{.num_keys = 1000, .false_positive_rate = 0.01},
        Requirements{.num_keys = 1000, .false_positive_rate = 0.01, .threshold = 3, .scheme = "partitioned"},
        Requirements{.num_keys = 1000, .memory_bytes = 10'000, .needs_deletes = true}}) {
    for (const Candidate& candidate : plan(requirements).candidates) {
      const AnyFilter filter(candidate.shape, 42);
      EXPECT_EQ(filter.kind(), candidate.kind());
      EXPECT_EQ(filter.shape(), candidate.shape);
      EXPECT_EQ(filter.words().size_bytes() + filter.side_words().size_bytes(), candidate.shape.num_bytes());
      EXPECT_DOUBLE_EQ(candidate.bits_per_key() * static_cast<double>(candidate.num_keys),
                       8.0 * static_cast<double>(candidate.shape.num_bytes()));
    }
  }
}

TEST(Plan, HeedsWhatIsOtherwiseChosen) {
  const Plan result = plan({.num_keys = 10'000,
                            .false_positive_rate = 0.01,
                            .threshold = 3,
                            .update = CounterUpdate::conservative,
                            .counter_bits = 8,
                            .num_subtables = 3});
  ASSERT_EQ(kinds_of(result), (std::vector<std::string>{"threshold", "counting-bloom", "dleft"}));
  EXPECT_EQ(std::get<ThresholdShape>(result.candidates[0].shape.shape).update, CounterUpdate::conservative);
  EXPECT_EQ(result.candidates[1].shape.counter_bits(), 8u);
  EXPECT_EQ(result.candidates[2].shape.num_hashes(), 3u);
}

TEST(Plan, EveryCandidateKeepsTheRateAtItsPromisedTrueCount) {
  for (const std::string_view scheme :
       {"congruential", "standard", "partitioned", "partition-double", "double"}) {
    const Plan result = plan({.num_keys = 5000,
                              .false_positive_rate = 0.01,
                              .threshold = 3,
                              .scheme = scheme,
                              .num_insertions = 8000});
    for (const Candidate& candidate : result.candidates) {
      EXPECT_LE(candidate.false_positive_rate, 0.01 * (1 + 1e-12)) << scheme;
      EXPECT_EQ(candidate.shape.scheme_name(), candidate.kind() == FilterKind::dleft ? "rotation" : scheme);
      ASSERT_EQ(candidate.errors.size(), 3u);
      EXPECT_EQ(candidate.errors.at(candidate.promised_true_count).false_positive_rate,
                candidate.false_positive_rate);
      EXPECT_LE(candidate.errors[0].false_positive_rate, candidate.errors[1].false_positive_rate);
      EXPECT_LE(candidate.errors[1].false_positive_rate, candidate.errors[2].false_positive_rate);
    }
  }
}

TEST(Plan, SaysWhatAWholeNumberOfHashesCosts) {
  // 1 in 2^10: k = 10 is the best real number of hashes, and costs nothing; 0.6 needs k = 0.74.
  const Plan free = plan({.num_keys = 1'000'000, .false_positive_rate = std::ldexp(1, -10)});
  ASSERT_TRUE(free.recommended().rounding_cost);
  EXPECT_LT(free.recommended().rounding_cost->whole_hashes_percent, 1e-6);
  EXPECT_LT(free.recommended().rounding_cost->whole_words_percent, 0.01);
  const Plan dear = plan({.num_keys = 1'000'000, .false_positive_rate = 0.6});
  // m = -n / ln(1 - 0.6) against n ln(1/0.6) / (ln 2)^2
  const double expected = 100 * (1 / -std::log(0.4) / (std::log(1 / 0.6) / std::pow(std::log(2), 2)) - 1);
  EXPECT_NEAR(dear.recommended().rounding_cost->whole_hashes_percent, expected, 1e-6);
}

TEST(Plan, CountsTheLinesAKeyTouches) {
  const Plan result = plan({.num_keys = 10'000'000, .false_positive_rate = std::ldexp(1, -10)});
  const Candidate& bloom = result.candidates[0];
  EXPECT_NEAR(bloom.cache_lines.insert, 10, 0.01);
  EXPECT_NEAR(bloom.cache_lines.lookup_absent, 2 - std::ldexp(1, -9), 0.01);  // half the bits are set
  EXPECT_NEAR(bloom.cache_lines.lookup_present, 10, 0.01);
  EXPECT_EQ(result.candidates[1].cache_lines.insert, 1);
}

TEST(Plan, SaysWhenTheSimpleThresholdFormulaDoesNotHold) {
  const auto even = theory::make_count_histogram({{1, 100'000.0}}, 256);
  const auto skewed = theory::make_count_histogram({{1, 100'000.0}, {200, 500.0}}, 256);
  const std::string warning = "simple threshold formula does not hold";
  EXPECT_FALSE(warns_of(plan({.false_positive_rate = 0.01, .threshold = 3, .histogram = even}), warning));
  EXPECT_TRUE(warns_of(plan({.false_positive_rate = 0.01, .threshold = 3, .histogram = skewed}), warning));
}

TEST(Plan, WarnsOfWhatTheNumbersDoNotShow) {
  EXPECT_TRUE(warns_of(plan({.num_keys = 1000, .false_positive_rate = 0.001, .threshold = 1000}), "exact"));
  EXPECT_TRUE(warns_of(plan({.num_keys = 1'000'000'000, .false_positive_rate = 1e-30}), "128 bits"));
  EXPECT_TRUE(warns_of(plan({.num_keys = 1000, .memory_bytes = 8}), "memory is too small"));
  EXPECT_TRUE(warns_of(plan({.num_keys = 1000, .memory_bytes = 8}), "blocked-bloom is left out"));
  EXPECT_TRUE(warns_of(plan({.num_keys = 100'000, .false_positive_rate = 0.01, .scheme = "double"}),
                       "has a higher false positive rate in a small filter"));
  EXPECT_FALSE(warns_of(plan({.num_keys = 100, .false_positive_rate = 0.01, .scheme = "double"}),
                        "has a higher false positive rate in a small filter"));
  EXPECT_TRUE(
      warns_of(plan({.num_keys = 9, .false_positive_rate = 0.01, .threshold = 3}), "only upper bounds"));
  EXPECT_TRUE(plan({.num_keys = 100'000, .false_positive_rate = 0.01}).warnings.empty());
}

// With a threshold above 1 the positions of a key in one line coincide too often for low rates.
TEST(Plan, LeavesOutWhatNeedsManyTimesTheMemoryOfAnother) {
  Requirements wanted{.num_keys = 1'000'000, .false_positive_rate = 1e-6, .threshold = 5};
  wanted.needs_deletes = true;
  const Plan found = plan(wanted);
  for (const Candidate& candidate : found.candidates)
    EXPECT_NE(candidate.kind(), FilterKind::blocked_counting_bloom);
  EXPECT_TRUE(warns_of(found, "blocked-counting-bloom is left out: it needs"));
  wanted.false_positive_rate = 0.001;
  EXPECT_FALSE(warns_of(plan(wanted), "left out"));
  // A filter for keys below the threshold stays beside a small one that promises its rate for absent keys only.
  for (const double rate : {1e-3, 1e-6, 1e-9}) {
    Requirements of_threshold{.num_keys = 1'000'000, .false_positive_rate = rate, .threshold = 100};
    of_threshold.num_insertions = 1'100'000;
    const std::vector<Candidate> candidates = plan(of_threshold).candidates;
    EXPECT_TRUE(std::ranges::any_of(candidates, [](const Candidate& own) {
      return own.promised_true_count == 99;
    })) << rate;
  }
}

// ---- d-left candidates

Candidate dleft_of(const Plan& plan) {
  for (const Candidate& candidate : plan.candidates)
    if (candidate.kind() == FilterKind::dleft) return candidate;
  throw std::logic_error("the plan has no dleft candidate");
}

TEST(Plan, WhatIsSaidOfADLeftFilterIsWhatTheTheorySays) {
  int num_without_moves = 0;
  for (const Requirements& requirements :
       {Requirements{.num_keys = 300'000, .false_positive_rate = 0.002, .needs_deletes = true},
        Requirements{.num_keys = 300'000, .false_positive_rate = 0.002, .needs_counts = true},
        Requirements{
            .num_keys = 300'000, .memory_bytes = 700'000, .needs_deletes = true, .keys_repeat = false},
        Requirements{.false_positive_rate = 0.01, .memory_bytes = 700'000, .needs_deletes = true}}) {
    const Plan result = plan(requirements);
    int num_dleft = 0;
    for (const Candidate& candidate : result.candidates) {
      if (candidate.kind() != FilterKind::dleft) continue;
      ++num_dleft;
      const DLeftShape& shape = std::get<DLeftShape>(candidate.shape.shape);
      const AnyFilter filter(candidate.shape, 1);
      EXPECT_EQ(candidate.shape.num_bytes(), num_bytes(shape));
      EXPECT_EQ(candidate.shape.num_bytes(), filter.words().size_bytes() + filter.side_words().size_bytes());
      const std::uint64_t n = candidate.num_keys;
      const FingerprintSpace space = shape.fingerprint_space();
      EXPECT_EQ(candidate.false_positive_rate,
                theory::dleft_false_positive_probability(space.num_buckets, space.num_remainders(), n));
      const DLeftForecast& forecast = candidate.dleft.value();
      const double load = theory::dleft_distinct_load(shape.num_subtables, shape.buckets_per_subtable,
                                                      space.num_remainders(), n);
      EXPECT_NEAR(forecast.load, load / shape.cells_per_bucket, 1e-12);
      EXPECT_LE(forecast.load, forecast.carried_load);
      const std::uint64_t steps = forecast.lifetime_operations;
      EXPECT_EQ(steps, requirements.needs_deletes ? 1000 * n : 0);
      const auto expected = theory::dleft_expected_overflows(shape.num_subtables, shape.buckets_per_subtable,
                                                             shape.cells_per_bucket, load, steps);
      const double failure = theory::probability_of_any(expected.filling + expected.churning);
      if (forecast.max_moves_per_insertion == 0) {
        ++num_without_moves;
        EXPECT_LE(failure, forecast.failure_probability);
        if (failure > 1e-8) {
          EXPECT_GE(failure, 0.4 * forecast.failure_probability);
        }
      }
      EXPECT_LE(forecast.failure_probability, 1.01e-6);
      EXPECT_LE(candidate.cache_lines.lookup_absent, 2 * shape.num_subtables);
    }
    EXPECT_GE(num_dleft, 1);
  }
  EXPECT_GE(num_without_moves, 2);
}

TEST(Plan, PutsADLeftFilterFirstWhereItIsSmallerAndKeysAreRemovedOrCounted) {
  for (const bool prefers_speed : {true, false}) {
    for (const double rate : {0.1, 0.05, 0.01, 0.001, 1e-6}) {
      if (prefers_speed && rate == 1e-6) continue;
      const Plan set = plan({.num_keys = 1'000'000,
                             .false_positive_rate = rate,
                             .needs_deletes = true,
                             .prefers_speed = prefers_speed});
      EXPECT_EQ(set.recommended().kind(), FilterKind::dleft) << rate;
      EXPECT_NE(set.reason.find("keys will be removed"), std::string::npos);
      EXPECT_NE(set.reason.find("counting-bloom takes"), std::string::npos);
      for (const Candidate& other : set.candidates) {
        if (prefers_speed && other.dleft && !other.dleft->has_fast_loops) continue;
        EXPECT_GE(other.shape.num_bytes(), set.recommended().shape.num_bytes());
      }
    }
  }
  EXPECT_EQ(plan({.num_keys = 200, .false_positive_rate = 0.01, .needs_counts = true}).recommended().kind(),
            FilterKind::counting_bloom);
  EXPECT_EQ(plan({.num_keys = 100'000, .memory_bytes = 300'000, .needs_counts = true}).recommended().kind(),
            FilterKind::dleft);
  EXPECT_EQ(
      plan({.false_positive_rate = 0.01, .memory_bytes = 200'000, .needs_counts = true}).recommended().kind(),
      FilterKind::dleft);
}

TEST(Plan, RecommendsTwoSubtablesAboveTheSizeOfACacheUnlessTheyTakeAQuarterMoreMemory) {
  std::size_t num_led_by_two = 0;
  std::size_t num_led_by_more = 0;
  for (const std::uint64_t num_keys : {100'000, 1'000'000, 10'000'000, 100'000'000}) {
    for (const double rate : {0.1, 0.01, 0.001, 0.0002}) {
      // With a doubling to come there is no compact filter, which would be first.
      const Plan set = plan({.num_keys = num_keys,
                             .false_positive_rate = rate,
                             .needs_deletes = true,
                             .keys_repeat = false,
                             .max_doublings = 1});
      const Candidate* of_two = nullptr;
      const Candidate* of_more = nullptr;
      for (const Candidate& candidate : set.candidates) {
        if (candidate.dleft && candidate.dleft->max_moves_per_insertion != 0)
          (candidate.shape.num_hashes() == 2 ? of_two : of_more) = &candidate;
      }
      if (of_two == nullptr || of_more == nullptr ||
          of_two->dleft->has_fast_loops != of_more->dleft->has_fast_loops)
        continue;
      const auto bytes_of_two = static_cast<double>(of_two->shape.num_bytes());
      const bool two_come_first = bytes_of_two > 6 * (1 << 20) &&
                                  bytes_of_two <= 1.25 * static_cast<double>(of_more->shape.num_bytes());
      EXPECT_EQ(two_come_first, of_two < of_more) << num_keys << " keys at " << rate;
      if (set.recommended().kind() != FilterKind::dleft) continue;
      EXPECT_EQ(&set.recommended(), two_come_first ? of_two : of_more) << num_keys << " keys at " << rate;
      ++(two_come_first ? num_led_by_two : num_led_by_more);
      EXPECT_EQ(set.reason.find("larger than most caches") != std::string::npos, two_come_first)
          << set.reason;
    }
  }
  EXPECT_GT(num_led_by_two, 1u);
  EXPECT_GT(num_led_by_more, 1u);
  const Plan smallest = plan({.num_keys = 64'000'000,
                              .false_positive_rate = 0.01,
                              .needs_deletes = true,
                              .preference = PlanPreference::smallest});
  for (const Candidate& candidate : smallest.candidates) {
    EXPECT_GE(candidate.shape.num_bytes(), smallest.recommended().shape.num_bytes()) << candidate.name();
  }
}

// Until they are fast.
TEST(Plan, RecommendsADLeftFilterWithoutVectorLoopsOnlyWhereNothingElseDoesTheJobAndAlwaysStatesThePrice) {
  std::uint32_t num_listed = 0;
  std::uint32_t num_recommended = 0;
  const auto check = [&](Requirements requirements) {
    const Plan result = plan(requirements);
    for (const Candidate& candidate : result.candidates) {
      if (!candidate.dleft || candidate.dleft->has_fast_loops) continue;
      ++num_listed;
      EXPECT_NE(result.reason.find("have no vector loops: an insertion takes"), std::string::npos)
          << result.reason;
    }
    const auto& first = result.recommended();
    if (!first.dleft || first.dleft->has_fast_loops) return;
    ++num_recommended;
    for (const Candidate& other : result.candidates) {
      if (other.kind() == FilterKind::dleft) continue;
      EXPECT_GT(other.saturation_probability, 0.5) << result.reason;
    }
  };
  for (const double rate : {0.3, 0.2, 0.05, 0.01, 1e-4, 1e-6}) {
    for (const std::uint64_t num_keys : {1000ull, 1'000'000ull}) {
      for (const bool needs_deletes : {false, true}) {
        check({.num_keys = num_keys, .false_positive_rate = rate, .needs_deletes = needs_deletes});
        check({.num_keys = num_keys,
               .false_positive_rate = rate,
               .needs_deletes = needs_deletes,
               .needs_counts = true,
               .num_frequent_keys = 10});
        check({.false_positive_rate = rate, .memory_bytes = num_keys, .needs_deletes = needs_deletes});
      }
      for (const std::uint64_t bytes_per_key : {1ull, 2ull, 3ull, 8ull})
        check({.num_keys = num_keys, .memory_bytes = bytes_per_key * num_keys, .needs_deletes = true});
    }
  }
  EXPECT_GT(num_listed, 20u);

  // Counters that are likely to saturate do not meet the requirements.
  theory::CountHistogram often;
  often.keys_with_count = {0, 0, 0, 0, 0, 100'000};
  often.keys_with_count.resize(40, 0.0);
  often.keys_with_count[39] = 1000;
  check({.false_positive_rate = 1e-5, .needs_deletes = true, .histogram = often, .counter_bits = 4});
  EXPECT_GE(num_recommended, 1u);
}

TEST(Plan, SaysWhenABloomFilterIsBetterThanADLeftFilterAndByHowMuch) {
  const auto says = [](const Plan& plan, const std::string& text) {
    EXPECT_NE(plan.reason.find(text), std::string::npos) << text << " is not in: " << plan.reason;
  };
  const Plan set = plan({.num_keys = 1'000'000, .false_positive_rate = 0.01});
  EXPECT_EQ(set.recommended().kind(), FilterKind::bloom);
  says(set,
       "it takes 9.59 bits per key, and dleft, which also supports removal and counts, takes 16.5 bits per "
       "key");
  const Plan tiny = plan({.num_keys = 100, .false_positive_rate = 0.01, .needs_deletes = true});
  EXPECT_EQ(tiny.recommended().kind(), FilterKind::counting_bloom);
  says(tiny, "it takes 39 bits per key, and dleft takes");
  says(tiny, "whose side table alone takes");
  EXPECT_EQ(tiny.reason.find("saturate at"), std::string::npos) << tiny.reason;
  says(plan({.num_keys = 100, .false_positive_rate = 0.01, .needs_counts = true}),
       "its counters saturate at 15: for higher counts, give the highest one as the threshold");
  says(plan({.num_keys = 100, .false_positive_rate = 0.01, .threshold = 100, .needs_counts = true}),
       "its counters saturate at 127");
  const Plan rough = plan({.num_keys = 1'000'000, .false_positive_rate = 0.5, .needs_deletes = true});
  EXPECT_EQ(rough.recommended().kind(), FilterKind::counting_bloom);
  says(rough, "whose cells have 16 bits even if a higher false positive rate is allowed");
  const Plan exact = plan(
      {.num_keys = 1'000'000, .false_positive_rate = 1e-9, .needs_deletes = true, .prefers_speed = false});
  EXPECT_EQ(exact.recommended().kind(), FilterKind::counting_bloom);
  says(exact, "have so low a false positive rate only if most cells are empty");
}

TEST(Plan, SuggestsABlockedBloomFilterOnlyWhereItTakesLessThanTwiceTheMemory) {
  const auto suggests = [](double rate) {
    const std::string reason = plan({.num_keys = 1'000'000, .false_positive_rate = rate}).reason;
    const bool better = reason.find("larger than the cache and speed matters more") != std::string::npos;
    const bool too_much =
        reason.find("too much for touching only one cache line per key") != std::string::npos;
    EXPECT_NE(better, too_much) << reason;
    return better;
  };
  EXPECT_TRUE(suggests(0.01));
  EXPECT_TRUE(suggests(1e-8));
  EXPECT_FALSE(suggests(1e-12));
  EXPECT_FALSE(suggests(1e-20));
}

TEST(Plan, TakesTheRegisterBlockedSchemeWhereItTakesAtMostATenthMoreMemoryThanTheBlockedOne) {
  const auto blocked_of = [](const Requirements& requirements) {
    for (const Candidate& candidate : plan(requirements).candidates)
      if (candidate.kind() == FilterKind::blocked_bloom) return candidate;
    return Candidate{};
  };
  std::size_t num_of_registers = 0;
  for (const double rate : {0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 1e-4, 1e-6}) {
    const Requirements wanted{.num_keys = 100'000, .false_positive_rate = rate};
    const auto small = static_cast<double>(num_bytes(plan_blocked_bloom(wanted)));
    const auto fast = static_cast<double>(num_bytes(plan_register_blocked_bloom(wanted)));
    const Candidate found = blocked_of(wanted);
    const bool is_of_registers = found.shape.scheme_id == RegisterBlockedScheme::file_id;
    EXPECT_EQ(is_of_registers, fast <= 1.1 * small) << rate;
    EXPECT_LE(found.false_positive_rate, rate);
    EXPECT_EQ(found.cache_lines.insert, 1);
    num_of_registers += is_of_registers;
    // The same choice for the same filter, whatever is asked for. Near the limit, whole lines may tip it.
    if (std::abs(fast / small - 1.1) < 0.02) continue;
    const auto memory = static_cast<std::uint64_t>(fast);
    EXPECT_EQ(blocked_of({.num_keys = 100'000, .memory_bytes = memory}).shape.scheme_id,
              found.shape.scheme_id)
        << rate;
    EXPECT_EQ(blocked_of({.false_positive_rate = rate, .memory_bytes = memory}).shape.scheme_id,
              found.shape.scheme_id)
        << rate;
  }
  EXPECT_EQ(num_of_registers, 5u);
}

TEST(Plan, OfDoubleHashingLeavesMemoryForANumberOfPositionsWithoutSmallDivisors) {
  double least = 1;
  for (std::uint64_t memory_bytes = 12'000; memory_bytes <= 15'000; memory_bytes += 120) {
    const Plan found = plan({.num_keys = 1900, .memory_bytes = memory_bytes, .scheme = "triple"});
    ASSERT_EQ(found.recommended().kind(), FilterKind::bloom);
    const double rate = found.recommended().false_positive_rate;
    EXPECT_LE(rate, least * 1.01) << memory_bytes;
    least = std::min(least, rate);
  }
}

TEST(Plan, OfOneKeyInAFewCountersKnowsHowOftenItsPositionsCoincide) {
  // One key, eight times, in 16 counters: its two positions would be one counter with a probability of 1/16, which then would have
  // 16. So a second hash is no better than one, which another key reaches with that probability.
  const auto histogram = theory::make_count_histogram({{8, 1.0}}, 16);
  const Plan result = plan({.memory_bytes = 8,
                            .threshold = 9,
                            .needs_counts = true,
                            .scheme = "enhanced-double-cubic",
                            .histogram = histogram});
  const Candidate& candidate = result.recommended();
  EXPECT_EQ(candidate.shape.num_hashes(), 1u);
  EXPECT_EQ(candidate.shape.num_positions(), 16u);
  EXPECT_NEAR(candidate.errors.at(8).false_positive_rate, 1.0 / 16, 1e-6);
}

TEST(Plan, OffersTheLineSchemeThatIsAskedFor) {
  for (const std::string_view scheme : {BlockedScheme::name, RegisterBlockedScheme::name}) {
    for (const double rate : {0.2, 0.01}) {
      const Plan found = plan({.num_keys = 1000, .false_positive_rate = rate, .scheme = scheme});
      ASSERT_EQ(kinds_of(found), std::vector<std::string>{"blocked-bloom"});
      EXPECT_EQ(found.recommended().shape.scheme_name(), scheme);
      EXPECT_LE(found.recommended().false_positive_rate, rate);
    }
  }
  const Plan any = plan({.num_keys = 1'000'000, .false_positive_rate = 0.01});
  EXPECT_NE(any.reason.find("blocked-bloom with the scheme register-blocked takes 5."), std::string::npos)
      << any.reason;
}

TEST(Plan, HeavyMultiplicitiesSaturateCountersAndGoToTheSideTable) {
  const auto histogram = theory::make_count_histogram({{1, 100'000.0}, {200, 500.0}}, 256);
  const Plan counts = plan({.false_positive_rate = 0.01, .needs_counts = true, .histogram = histogram});
  EXPECT_EQ(counts.recommended().kind(), FilterKind::dleft);
  EXPECT_NE(counts.reason.find("saturate"), std::string::npos) << counts.reason;
  EXPECT_NE(counts.reason.find("its side table has room for the"), std::string::npos) << counts.reason;
  // Where all keys are frequent, the side table would have to hold them all.
  const auto heavy = theory::make_count_histogram({{200, 100'000.0}}, 256);
  const Plan all = plan({.false_positive_rate = 0.01, .needs_counts = true, .histogram = heavy});
  EXPECT_EQ(all.recommended().kind(), FilterKind::counting_bloom);
  EXPECT_NE(all.reason.find("whose side table alone takes 9"), std::string::npos) << all.reason;
  EXPECT_TRUE(warns_of(all, "any counter saturates"));
  EXPECT_GE(std::get<DLeftShape>(counts.recommended().shape.shape).spill_capacity, 500u);
  // For a threshold, it comes first only if it is known how often keys repeat.
  EXPECT_EQ(
      plan({.false_positive_rate = 0.01, .threshold = 100, .histogram = histogram}).recommended().kind(),
      FilterKind::dleft);
  const Requirements unknown{.num_keys = 100'500, .false_positive_rate = 0.01, .threshold = 100};
  EXPECT_EQ(plan(unknown).recommended().kind(), FilterKind::threshold);
  const Candidate& dleft =
      dleft_of(plan({.false_positive_rate = 0.01, .threshold = 100, .histogram = histogram}));
  ASSERT_EQ(dleft.error_law, ErrorLaw::histogram);
  // A key never seen passes if a key of 200 has its fingerprint.
  EXPECT_NEAR(dleft.errors.front().false_positive_rate / dleft.false_positive_rate, 500 / 100'500.0, 1e-4);
}

TEST(Plan, StatesTheRateOfADLeftFilterAtEverySize) {
  const Plan growing =
      plan({.num_keys = 10'000, .false_positive_rate = 0.001, .needs_deletes = true, .max_doublings = 3});
  const Candidate dleft = dleft_of(growing);
  const DLeftShape shape = std::get<DLeftShape>(dleft.shape.shape);
  const std::vector<DLeftSize>& sizes = dleft.dleft.value().sizes;
  ASSERT_EQ(sizes.size(), 4u);
  for (std::uint32_t s = 0; s <= 3; ++s) {
    DLeftShape doubled = shape;
    doubled.num_doublings = s;
    EXPECT_EQ(sizes[s].num_keys, 10'000u << s);
    EXPECT_EQ(sizes[s].memory_bytes, num_bytes(doubled));
    EXPECT_GE(planned_num_keys(doubled, 0.9), sizes[s].num_keys);
    EXPECT_EQ(sizes[s].false_positive_rate,
              theory::dleft_false_positive_probability(
                  shape.buckets_per_subtable, shape.fingerprint_space().num_remainders(), sizes[s].num_keys));
  }
  EXPECT_LE(sizes[0].false_positive_rate, 0.001);
  EXPECT_NEAR(sizes[3].false_positive_rate / sizes[0].false_positive_rate, 8, 0.05);
  EXPECT_THAT(dleft.summary, testing::HasSubstr("can double 3 times, and then has 80000 keys in " +
                                                std::to_string(sizes[3].memory_bytes) +
                                                " bytes and a false positive rate of "));
}

TEST(Plan, WarnsThatADLeftFilterMayBeFullOfFrequentKeys) {
  const Requirements requirements{.num_keys = 100'000, .false_positive_rate = 0.01, .needs_deletes = true};
  EXPECT_TRUE(warns_of(plan(requirements), "when all entries are in use, the filter is full"));
  Requirements unique = requirements;
  unique.keys_repeat = false;
  EXPECT_FALSE(warns_of(plan(unique), "the filter is full"));
  EXPECT_LE(plan(unique).recommended().shape.num_bytes(), plan(requirements).recommended().shape.num_bytes());
  Requirements frequent = requirements;
  frequent.num_frequent_keys = 1000;
  EXPECT_FALSE(warns_of(plan(frequent), "the filter is full"));
  EXPECT_TRUE(warns_of(plan({.num_keys = 1ull << 41, .false_positive_rate = 0.01}), "dleft is left out"));
}

TEST(Plan, RefusesWhatNothingCanMeet) {
  expect_refused([] { (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .threshold = 0}); },
                 {"threshold is 0"});
  expect_refused([] { (void)plan({.num_keys = 0, .false_positive_rate = 0.1}); },
                 {"plan: num_keys is 0; must be 1 to "});
  expect_refused([] { (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .num_insertions = 0}); },
                 {"num_insertions is 0; must be 9 to 72057594037927936, or not given"});
  expect_refused([] { (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .scheme = "simple"}); },
                 {"simple", "congruential"});
  expect_refused(
      [] { (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .threshold = 2, .scheme = "blocked"}); },
      {"scheme is 'blocked'"});
  expect_refused(
      [] {
        (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .threshold = 2, .scheme = "register-blocked"});
      },
      {"scheme is 'register-blocked'"});
  expect_refused(
      [] {
        (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .needs_counts = true, .scheme = "blocked"});
      },
      {"scheme is 'blocked'"});
  expect_refused([] { (void)plan({.num_keys = 9, .false_positive_rate = 0.1, .num_insertions = 8}); },
                 {"num_insertions is 8"});
  expect_refused([] { (void)plan({.num_keys = 1ull << 56, .false_positive_rate = 1e-6}); }, {"2^56"});
}

}  // namespace
}  // namespace tally

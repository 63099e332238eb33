#include "tally/theory/compound_poisson.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "tally/theory/tails.hpp"
#include "tally/theory/threshold.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

double poisson(double x, double mean) { return std::exp(x * std::log(mean) - mean - std::lgamma(x + 1)); }

TEST(CompoundPoissonTheory, WithEveryCountOneItIsThePoissonForm) {
  for (const double keys : {1e-6, 10.0, 1000.0, 20000.0}) {
    for (const std::uint64_t theta : {1u, 2u, 5u, 30u, 300u, 3000u}) {
      const CountHistogram histogram{{0, keys, 0, 0, 0, 0}, 0};
      TALLY_EXPECT_RELATIVE(ln_counter_upper_tail(histogram, 4, 1000, theta),
                            ln_poisson_upper_tail(theta, 4 * keys / 1000), 1e-11);
    }
  }
  const CountHistogram histogram{{0, 500}, 0};
  TALLY_EXPECT_RELATIVE(ln_compound_threshold_false_positive_probability(histogram, 3, 5, 2000),
                        ln_threshold_false_positive_probability_approximate(3, 5, 500, 2000), 1e-12);
}

TEST(CompoundPoissonTheory, WithEveryCountCItIsAPoissonOfWholeJumps) {
  for (const std::uint64_t c : {2u, 3u, 7u, 50u}) {
    for (const double keys : {0.001, 100.0, 3000.0}) {
      for (const std::uint64_t theta : {1u, 6u, 7u, 40u, 1000u}) {
        const CountHistogram histogram = make_count_histogram({{c, keys}}, theta);
        TALLY_EXPECT_RELATIVE(ln_counter_upper_tail(histogram, 3, 1000, theta),
                              ln_poisson_upper_tail((theta + c - 1) / c, 3 * keys / 1000), 1e-11);
      }
    }
  }
}

TEST(CompoundPoissonTheory, AMixtureIsTheConvolutionOfItsParts) {
  // Rates 0.8 of jumps of 1, 0.3 of jumps of 3, 0.01 of jumps of 100.
  const CountHistogram histogram = make_count_histogram({{1, 800}, {100, 10}, {3, 300}}, 8);
  EXPECT_DOUBLE_EQ(histogram.keys_beyond, 10);
  EXPECT_DOUBLE_EQ(histogram.num_distinct(), 1110);
  const auto law = counter_value_distribution(histogram, 1, 1000, 8);
  double lower = 0;
  for (int s = 0; s < 8; ++s) {
    double truth = 0;
    for (int threes = 0; 3 * threes <= s; ++threes)
      truth += poisson(threes, 0.3) * poisson(s - 3 * threes, 0.8);
    truth *= std::exp(-0.01);
    TALLY_EXPECT_RELATIVE(law.at(static_cast<std::size_t>(s)), truth, 1e-13);
    lower += truth;
  }
  TALLY_EXPECT_RELATIVE(std::exp(ln_counter_upper_tail(histogram, 1, 1000, 8)), 1 - lower, 1e-12);
}

TEST(CompoundPoissonTheory, SmallTailsAreSummedAndNeverSubtracted) {
  // Two jumps of 6 reach 10, six or more smaller ones too: rates 1e-9 and 1e-8, leading terms by hand.
  const CountHistogram histogram = make_count_histogram({{6, 1e-6}, {9, 1e-5}}, 10);
  const double a = 1e-9;
  const double b = 1e-8;
  TALLY_EXPECT_RELATIVE(ln_counter_upper_tail(histogram, 1, 1000, 10), std::log((a + b) * (a + b) / 2), 1e-9);
  // 2000 jumps at rate 1e-5: far below the least double.
  const CountHistogram rare{{0, 1}, 0};
  TALLY_EXPECT_RELATIVE(ln_counter_upper_tail(rare, 1, 100000, 2000), ln_poisson_upper_tail(2000, 1e-5),
                        1e-12);
  EXPECT_LT(ln_counter_upper_tail(rare, 1, 100000, 2000), -30000);
}

TEST(CompoundPoissonTheory, CrowdedCountersAreCertainAndEmptyOnesImpossible) {
  const CountHistogram crowded{{0, 1e9, 1e9}, 5};
  EXPECT_EQ(ln_counter_upper_tail(crowded, 8, 1000, 3), 0.0);
  EXPECT_EQ(counter_value_distribution(crowded, 8, 1000, 3).at(2), 0.0);
  const CountHistogram empty{{0, 0}, 0};
  EXPECT_EQ(ln_counter_upper_tail(empty, 8, 1000, 3), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(compound_threshold_false_positive_probability(empty, 3, 8, 1000), 0.0);
  EXPECT_EQ(counter_value_distribution(empty, 8, 1000, 3).at(0), 1.0);
}

TEST(CompoundPoissonTheory, HeavyKeysMakeThePoissonFormWrongAndSimulationAgreesWithThis) {
  // 3000 keys once, 300 keys 5 times, 100 keys 50 times in 8192 counters; theta 4, k 3.
  const CountHistogram histogram = make_count_histogram({{1, 3000}, {5, 300}, {50, 100}}, 4);
  constexpr std::uint64_t m = 8192;
  constexpr std::uint32_t k = 3;
  std::mt19937_64 random(3);
  double reached = 0;
  constexpr int filters = 200;
  for (int filter = 0; filter < filters; ++filter) {
    std::vector<std::uint32_t> counters(m);
    for (int key = 0; key < 3400; ++key) {
      const std::uint32_t count = key < 3000 ? 1 : key < 3300 ? 5 : 50;
      for (std::uint32_t i = 0; i < k; ++i) counters[random() % m] += count;
    }
    for (const std::uint32_t counter : counters) reached += counter >= 4;
  }
  const double p = std::exp(ln_counter_upper_tail(histogram, k, m, 4));
  // Counters of a filter are negatively dependent, so a binomial spread is an upper bound; 4 of them.
  EXPECT_NEAR(reached / (filters * static_cast<double>(m)), p,
              4 * std::sqrt(p / (filters * static_cast<double>(m))));
  const std::uint64_t n = 3000 + 300 * 5 + 100 * 50;
  EXPECT_GT(threshold_false_positive_probability_approximate(4, k, n, m),
            1.5 * compound_threshold_false_positive_probability(histogram, 4, k, m));
}

TEST(CompoundPoissonTheory, TheTrueCountLowersTheThreshold) {
  const CountHistogram histogram = make_count_histogram({{1, 100}, {2, 50}, {3, 20}, {9, 5}}, 6);
  for (std::uint64_t t = 0; t < 5; ++t) {
    TALLY_EXPECT_RELATIVE(ln_compound_threshold_false_positive_probability(histogram, 5, 4, 500, t),
                          4 * ln_counter_upper_tail(histogram, 4, 500, 5 - t), 1e-14);
  }
}

TEST(CompoundPoissonTheory, TheZipfHistogramKeepsEveryKeyAndInsertion) {
  // limit far above the largest count: the counts add up to the total.
  const auto histogram = zipf_count_histogram(1000, 1.0, 5000, 2000);
  double insertions = 0;
  for (std::size_t c = 1; c < 2000; ++c) insertions += static_cast<double>(c) * histogram.keys_with_count[c];
  TALLY_EXPECT_RELATIVE(insertions, 5000.0, 1e-12);
  EXPECT_LT(histogram.keys_beyond, 1e-12);
  // All ranks alike.
  const auto even = zipf_count_histogram(100000, 0.0, 200000, 4);
  TALLY_EXPECT_RELATIVE(even.keys_with_count[1], 1e5 * poisson(1, 2), 1e-9);
  TALLY_EXPECT_RELATIVE(even.keys_with_count[3], 1e5 * poisson(3, 2), 1e-9);
  TALLY_EXPECT_RELATIVE(even.keys_beyond, 1e5 * std::exp(ln_poisson_upper_tail(4, 2)), 1e-9);
  EXPECT_EQ(zipf_count_histogram(100, 1, 0, 4).num_distinct(), 0.0);
}

TEST(CompoundPoissonTheory, WhatLiesBeyondTheLimitIsCountedAsInsertions) {
  EXPECT_DOUBLE_EQ(make_count_histogram({{1, 800}, {100, 10}, {3, 300}, {8, 1}}, 8).num_insertions(), 2708);
  EXPECT_DOUBLE_EQ((CountHistogram{{0, 5, 2}, 7}).num_insertions(), 9 + 7 * 3);  // at least
  for (const std::uint64_t limit : {1u, 3u, 256u}) {
    for (const double exponent : {0.5, 1.1, 2.0}) {
      TALLY_EXPECT_RELATIVE(zipf_count_histogram(1'000'000, exponent, 5'000'000, limit).num_insertions(), 5e6,
                            1e-6);
      TALLY_EXPECT_RELATIVE(zipf_count_histogram(100, exponent, 5'000'000, limit).num_insertions(), 5e6,
                            1e-12);
    }
  }
}

TEST(CompoundPoissonTheory, TheZipfHistogramIsTheSumOverAllRanksTo1e6) {
  for (const double exponent : {0.3, 1.0, 1.5}) {
    for (const std::uint64_t total :
         {std::uint64_t{20000}, std::uint64_t{3000000}, std::uint64_t{100000000}}) {
      constexpr std::uint64_t ranks = 400000;
      constexpr std::uint64_t limit = 12;
      double weights = 0;
      for (std::uint64_t i = 1; i <= ranks; ++i) weights += std::pow(static_cast<double>(i), -exponent);
      double truth[limit] = {};
      double distinct = 0;
      for (std::uint64_t i = 1; i <= ranks; ++i) {
        const double mean =
            static_cast<double>(total) * std::pow(static_cast<double>(i), -exponent) / weights;
        distinct += -std::expm1(-mean);
        double value = std::exp(-mean);
        for (std::uint64_t c = 1; c < limit; ++c) truth[c] += value *= mean / static_cast<double>(c);
      }
      const auto histogram = zipf_count_histogram(ranks, exponent, total, limit);
      for (std::uint64_t c = 1; c < limit; ++c) {
        EXPECT_NEAR(histogram.keys_with_count[c], truth[c], 1e-6 * truth[c] + 1e-12)
            << exponent << ' ' << total;
      }
      TALLY_EXPECT_RELATIVE(histogram.num_distinct(), distinct, 1e-6);
    }
  }
}

TEST(CompoundPoissonTheory, BadParametersAreRefusedByName) {
  const CountHistogram good{{0, 1, 2}, 0};
  const CountHistogram beyond{{0, 1, 2}, 1};
  TALLY_EXPECT_REFUSED(ln_counter_upper_tail(good, 1, 1, 0), "theta");
  TALLY_EXPECT_REFUSED(ln_counter_upper_tail(good, 1, 1, 10001), "theta");
  TALLY_EXPECT_REFUSED(ln_counter_upper_tail(beyond, 1, 1, 4), "theta");
  TALLY_EXPECT_REFUSED(ln_counter_upper_tail(good, 0, 1, 1), "k");
  TALLY_EXPECT_REFUSED(counter_value_distribution(good, 1, 0, 1), "m");
  TALLY_EXPECT_REFUSED(compound_threshold_false_positive_probability(good, 2, 1, 1, 2), "true_count");
  TALLY_EXPECT_REFUSED(compound_threshold_false_positive_probability(good, 0, 1, 1), "theta");
  TALLY_EXPECT_REFUSED(make_count_histogram({}, 0), "limit");
  TALLY_EXPECT_REFUSED(make_count_histogram({{0, 1.0}}, 5), "count");
  TALLY_EXPECT_REFUSED(zipf_count_histogram(0, 1, 1, 1), "num_ranks");
  TALLY_EXPECT_REFUSED(zipf_count_histogram(1, 1, 1, 0), "limit");
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    TALLY_EXPECT_REFUSED(zipf_count_histogram(1, bad, 1, 1), "exponent");
    TALLY_EXPECT_REFUSED(make_count_histogram({{1, bad}}, 5), "number of keys");
    TALLY_EXPECT_REFUSED(ln_counter_upper_tail(CountHistogram{{0, bad}, 0}, 1, 1, 1), "number of keys");
    TALLY_EXPECT_REFUSED(ln_counter_upper_tail(CountHistogram{{0, 1}, bad}, 1, 1, 1), "number of keys");
  }
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/conservative_update.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

CountHistogram each_key(std::uint64_t count, double num_keys) {
  return make_count_histogram({{count, num_keys}}, 200);
}

/// The values of a counter that gets `load` insertions of keys that never repeat, by the differential equations of
/// Bianchi et al. 2012, dy[v + 1]/dt = load (y[v] - y[v + 1]) y[v]^(k - 1), in small steps.
std::vector<double> of_distinct_keys(double load, std::uint32_t k, std::size_t levels) {
  constexpr int num_steps = 100'000;
  std::vector<double> y(levels + 1);
  y[0] = 1;
  for (int i = 0; i < num_steps; ++i) {
    for (std::size_t v = levels; v-- > 0;)
      y[v + 1] += load / num_steps * (y[v] - y[v + 1]) * std::pow(y[v], k - 1);
  }
  return y;
}

TEST(ConservativeUpdate, WithoutRepeatsTheDistributionIsThatOfTheDifferentialEquations) {
  struct Case {
    double load;
    std::uint32_t k;
  };
  for (const auto& [load, k] : {Case{0.5, 2}, {2, 4}, {5, 4}, {8, 8}}) {
    const std::uint64_t m = 1000 * k;
    const CountHistogram histogram = each_key(1, load * 1000);
    const std::vector<double> y = of_distinct_keys(load, k, 8);
    for (std::uint64_t theta = 1; theta <= 4; ++theta) {
      if (y[theta] < 1e-3) continue;
      EXPECT_NEAR(conservative_counter_upper_tail(histogram, k, m, theta) / y[theta], 1, 0.04)
          << load << " " << k << " " << theta;
    }
  }
}

TEST(ConservativeUpdate, CountersAreReachedByTheSameKeysAsInABloomFilter) {
  // A counter is above 0 if any key has it.
  for (const double num_keys : {100.0, 1000.0, 3000.0}) {
    for (const std::uint64_t count : {1, 3, 10}) {
      EXPECT_NEAR(conservative_counter_upper_tail(each_key(count, num_keys), 4, 4000, 1),
                  1 - std::exp(-num_keys / 1000), 0.004);
    }
  }
}

TEST(ConservativeUpdate, CountersAreAtLeastAtTheCountOfTheirMostFrequentKey) {
  const CountHistogram histogram = make_count_histogram({{40, 100}, {20, 300}, {2, 1000}}, 100);
  for (const auto& [theta, keys] : {std::pair{21, 100}, {40, 100}, {20, 400}, {10, 400}}) {
    const double least = 1 - std::exp(-keys / 1000.0);
    const double found = conservative_counter_upper_tail(histogram, 4, 4000, theta);
    EXPECT_GE(found, 0.97 * least) << theta;
    EXPECT_LE(found, 1.3 * least) << theta;
  }
}

/// The mean, over all orders of the insertions and all places of the keys, of how far keys with a count are too high in
/// k rows of w counters.
double exact_excess(const std::vector<int>& counts, int true_count, int k, int w) {
  const auto num_keys = static_cast<int>(counts.size());
  const int num_places = static_cast<int>(std::pow(w, k * (num_keys + 1)));  // the last key is never inserted
  double sum = 0;
  double weight = 0;
  for (int code = 0; code < num_places; ++code) {
    std::vector<std::vector<int>> places(num_keys + 1, std::vector<int>(k));
    int rest = code;
    for (auto& of_key : places) {
      for (int r = 0; r < k; ++r, rest /= w) of_key[r] = r * w + rest % w;
    }
    std::vector<int> counters(k * w);
    std::vector<int> left = counts;
    const auto count = [&](int key) {
      int least = 1000;
      for (const int place : places[key]) least = std::min(least, counters[place]);
      return least;
    };
    const std::function<void(int, double)> insert = [&](int num_left, double probability) {
      if (num_left == 0) {
        for (int key = 0; key <= num_keys; ++key) {
          const int own = key == num_keys ? 0 : counts[key];
          if (own != true_count) continue;
          sum += probability * (count(key) - own);
          weight += probability;
        }
        return;
      }
      for (int key = 0; key < num_keys; ++key) {
        if (left[key] == 0) continue;
        const std::vector<int> before = counters;
        const double share = static_cast<double>(left[key]) / num_left;
        const int raised = count(key) + 1;
        for (const int place : places[key]) counters[place] = std::max(counters[place], raised);
        --left[key];
        insert(num_left - 1, probability * share);
        ++left[key];
        counters = before;
      }
    };
    insert(std::accumulate(counts.begin(), counts.end(), 0), 1);
  }
  return sum / weight;
}

// So few keys and counters are far from the limit in which the prediction holds, so it is only roughly right.
TEST(ConservativeUpdate, TinySketchesAreNotFarFromAllTheirCases) {
  const auto histogram = [](const std::vector<int>& counts) {
    std::vector<std::pair<std::uint64_t, double>> pairs;
    for (const int count : counts) pairs.emplace_back(count, 1.0);
    return make_count_histogram(pairs, 100);
  };
  const std::vector<std::vector<int>> streams = {{1, 1, 1}, {2, 1}, {2, 2, 1}, {3, 2}};
  for (const std::vector<int>& counts : streams) {
    const double absent = exact_excess(counts, 0, 2, 3);
    EXPECT_NEAR(conservative_mean_excess(histogram(counts), 2, 6, 0) / absent, 1, 0.3) << counts.size();
  }
}

// Means over the keys of one stream each, by another program with independent positions; standard errors below 2%.
TEST(ConservativeUpdate, StreamsOfAnotherProgramAreMetWithinAFifth) {
  struct Stream {
    double exponent;
    std::uint32_t k;
    std::uint64_t m;
    std::uint64_t true_count;
    double measured;
  };
  // 300,000 ranks, 900,000 insertions.
  constexpr Stream streams[] = {
      {0.0, 4, 120'000, 0, 11.974}, {0.0, 4, 120'000, 3, 9.652},  {0.0, 6, 600'000, 0, 1.866},
      {0.6, 6, 600'000, 1, 0.836},  {0.8, 6, 600'000, 0, 0.668},  {0.8, 10, 600'000, 1, 0.803},
      {1.0, 4, 120'000, 0, 3.047},  {1.0, 4, 120'000, 1, 2.562},  {1.0, 6, 600'000, 0, 0.186},
      {1.2, 4, 120'000, 0, 0.735},  {1.2, 3, 300'000, 0, 0.1041}, {1.4, 4, 120'000, 0, 0.0644}};
  for (const Stream& stream : streams) {
    const CountHistogram histogram = zipf_count_histogram(300'000, stream.exponent, 900'000, 2000);
    const double predicted = conservative_mean_excess(histogram, stream.k, stream.m, stream.true_count);
    EXPECT_GE(predicted, 0.8 * stream.measured) << stream.exponent << " " << stream.m;
    EXPECT_LE(predicted, 1.2 * stream.measured) << stream.exponent << " " << stream.m;
  }
}

TEST(ConservativeUpdate, AFalsePositiveIsNeverLikelierThanWithPlainUpdate) {
  for (const double exponent : {0.0, 0.8, 1.2}) {
    const CountHistogram histogram = zipf_count_histogram(10'000, exponent, 30'000, 100);
    for (const std::uint64_t theta : {1, 2, 5, 9}) {
      for (std::uint64_t t = 0; t < theta; t += 2) {
        const double rate = conservative_threshold_false_positive_probability(histogram, theta, 4, 20'000, t);
        EXPECT_GE(rate, 0);
        EXPECT_LE(rate, compound_threshold_false_positive_probability(histogram, theta, 4, 20'000, t));
        EXPECT_NEAR(
            std::exp(ln_conservative_threshold_false_positive_probability(histogram, theta, 4, 20'000, t)),
            rate, 1e-15);
      }
    }
  }
}

TEST(ConservativeUpdate, TheRateRisesWithTheTrueCountAndFallsWithTheThresholdAndTheCounters) {
  const CountHistogram histogram = zipf_count_histogram(10'000, 0.8, 30'000, 200);
  const auto rate = [&](std::uint64_t theta, std::uint64_t m, std::uint64_t t) {
    return conservative_threshold_false_positive_probability(histogram, theta, 4, m, t);
  };
  for (std::uint64_t t = 0; t < 5; ++t) {
    EXPECT_LT(rate(6, 20'000, t), rate(6, 20'000, t + 1) + (t == 5 ? 1 : 0));
    EXPECT_LT(rate(7, 20'000, t), rate(6, 20'000, t));
    EXPECT_LT(rate(6, 22'000, t), rate(6, 20'000, t));
  }
  double last = 1e9;
  for (std::uint64_t t = 0; t < 5; ++t) {
    const double excess = conservative_mean_excess(histogram, 4, 20'000, t);
    EXPECT_LT(excess, last);
    last = excess;
  }
}

TEST(ConservativeUpdate, AnEmptyStreamHasNoErrors) {
  const CountHistogram empty = make_count_histogram({}, 10);
  EXPECT_EQ(conservative_threshold_false_positive_probability(empty, 1, 4, 100), 0);
  EXPECT_EQ(conservative_mean_excess(empty, 4, 100, 3), 0);
  EXPECT_EQ(conservative_counter_upper_tail(empty, 4, 100, 1), 0);
}

TEST(ConservativeUpdate, LevelsThatAreGroupedHaveAboutTheSameError) {
  // A load of 300: above 128 levels are grouped by 2 or more.
  const CountHistogram distinct = each_key(1, 300'000);
  const std::vector<double> y = of_distinct_keys(300, 4, 200);
  double mean = 0;
  for (std::size_t v = 1; v < y.size(); ++v) mean += std::pow(y[v], 4);
  EXPECT_NEAR(conservative_mean_excess(distinct, 4, 4000) / mean, 1, 0.07);
}

TEST(ConservativeUpdate, ArgumentsOutOfRangeAreRefused) {
  const CountHistogram histogram = zipf_count_histogram(1000, 1.0, 3000, 50);
  const auto rate = conservative_threshold_false_positive_probability;
  TALLY_EXPECT_REFUSED(rate(histogram, 0, 4, 100, 0), "theta");
  TALLY_EXPECT_REFUSED(rate(histogram, 51, 4, 100, 0), "theta");
  TALLY_EXPECT_REFUSED(rate(each_key(1, 10), 10'001, 4, 100, 0), "theta");
  TALLY_EXPECT_REFUSED(rate(histogram, 3, 0, 100, 0), "k");
  TALLY_EXPECT_REFUSED(rate(histogram, 3, 65, 100, 0), "k");
  TALLY_EXPECT_REFUSED(rate(histogram, 3, 4, 3, 0), "m");
  TALLY_EXPECT_REFUSED(rate(histogram, 3, 4, 100, 3), "true_count");
  TALLY_EXPECT_REFUSED(conservative_counter_upper_tail(histogram, 65, 100, 1), "k");
  TALLY_EXPECT_REFUSED(conservative_mean_excess(histogram, 4, 100, 10'001), "true_count");
  // Absent keys are reported above the largest count that this histogram has.
  TALLY_EXPECT_REFUSED(conservative_mean_excess(zipf_count_histogram(1000, 0.5, 100'000, 20), 2, 100),
                       "histogram");
}

}  // namespace
}  // namespace tally::theory

#include "tally/planner/plan_count_min.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "support/expect_refused.hpp"
#include "tally/sketches/count_min.hpp"

namespace tally {
namespace {

using test::expect_refused;

TEST(PlanCountMin, AnErrorAndAProbabilityGiveTheWidthAndDepthOfTheTheorem) {
  const CountMinShape shape = plan_count_min({.epsilon = 0.001, .failure_probability = 0.01});
  EXPECT_EQ(shape, (CountMinShape{2719, 5, 1, 64, CounterUpdate::plain}));
  const CountMinShape two_hash = plan_count_min_two_hash({.epsilon = 0.001, .failure_probability = 0.01});
  EXPECT_EQ(two_hash, (CountMinShape{5437, 7, 1, 64, CounterUpdate::plain}));
}

TEST(PlanCountMin, TheSketchStatesABoundAtLeastAsGoodAsAskedFor) {
  for (const double epsilon : {0.3, 0.01, 1e-4}) {
    for (const double delta : {0.2, 0.01, 1e-7}) {
      const Requirements request{.epsilon = epsilon, .failure_probability = delta, .counter_bits = 8};
      const CountMinBound classic = bound_of(plan_count_min(request), RowLaw::independent);
      EXPECT_LE(classic.epsilon, epsilon);
      EXPECT_LE(classic.failure_probability, delta);
      const CountMinShape shape = plan_count_min_two_hash(request);
      const CountMinBound two_hash = CountMinSketch<TwoHashRows>(shape, 1).bound();
      EXPECT_LE(two_hash.epsilon, epsilon);
      EXPECT_LE(two_hash.failure_probability, delta * (1 + 1e-12));
    }
  }
}

TEST(PlanCountMin, WithAMemoryTheSketchFitsAndOneMoreColumnWouldNot) {
  for (const std::uint64_t memory : {200u, 4096u, 1'000'000u}) {
    for (const double delta : {0.2, 0.01}) {
      const Requirements request{.memory_bytes = memory, .failure_probability = delta, .counter_bits = 32};
      CountMinShape shape = plan_count_min(request);
      EXPECT_LE(num_bytes(shape), memory);
      EXPECT_LE(bound_of(shape, RowLaw::independent).failure_probability, delta);
      ++shape.width;
      EXPECT_GT(num_bytes(shape), memory);
    }
  }
}

// Tried one by one: no wider prime whose depth and copies fit.
TEST(PlanCountMin, WithAMemoryTheTwoHashSketchIsTheWidestThatFits) {
  for (const std::uint64_t memory : {400u, 4096u, 60'000u}) {
    for (const double delta : {0.2, 0.01, 1e-5}) {
      const Requirements request{.memory_bytes = memory, .failure_probability = delta, .counter_bits = 32};
      std::uint64_t widest = 0;
      for (std::uint64_t width = 7; width <= memory / 4; ++width) {
        if (TwoHashRows::round_width(width, Rounding::up) != width) continue;
        const double epsilon = 2 * std::exp(1.0) / static_cast<double>(width);
        const double rows = std::ceil(std::log(1 / (epsilon * (1 - std::exp(-2.0) / 2)))) *
                            std::max(1.0, std::ceil(std::log(delta) / std::log(epsilon)));
        if (rows * static_cast<double>(width) * 4 <= static_cast<double>(memory)) widest = width;
      }
      if (widest == 0) {
        expect_refused([&] { (void)plan_count_min_two_hash(request); }, {"memory_bytes is"});
        continue;
      }
      const CountMinShape shape = plan_count_min_two_hash(request);
      EXPECT_EQ(shape.width, widest) << memory << ' ' << delta;
      EXPECT_LE(num_bytes(shape), memory);
      EXPECT_LE(bound_of(shape, RowLaw::two_hash).failure_probability, delta * (1 + 1e-12));
    }
  }
}

TEST(PlanCountMin, AMemoryAndAnErrorGiveAsManyRowsAsFit) {
  const Requirements request{.memory_bytes = 8000, .epsilon = 0.01, .counter_bits = 32};
  EXPECT_EQ(plan_count_min(request), (CountMinShape{272, 7, 1, 32, CounterUpdate::plain}));
  EXPECT_EQ(plan_count_min_two_hash({.memory_bytes = 24'000, .epsilon = 0.01, .counter_bits = 32}),
            (CountMinShape{547, 5, 2, 32, CounterUpdate::plain}));
}

TEST(PlanCountMin, CountersAreSoWideThatNoneSaturates) {
  const auto bits = [](std::optional<std::uint64_t> total) {
    return plan_count_min({.epsilon = 0.1, .failure_probability = 0.1, .total_count = total}).counter_bits;
  };
  EXPECT_EQ(bits(std::nullopt), 64u);
  EXPECT_EQ(bits(1), 8u);
  EXPECT_EQ(bits(254), 8u);
  EXPECT_EQ(bits(255), 16u);
  EXPECT_EQ(bits(65'535), 32u);
  EXPECT_EQ(bits((1ull << 32) - 2), 32u);
  EXPECT_EQ(bits((1ull << 32) - 1), 64u);
  EXPECT_EQ(bits(~0ull), 64u);
  CountMinSketch<> sketch(plan_count_min({.epsilon = 0.1, .failure_probability = 0.1, .total_count = 254}),
                          1);
  sketch.add("apple", 254);
  EXPECT_FALSE(sketch.estimate("apple").saturated);
}

TEST(PlanCountMin, ARequestOutOfRangeIsRefused) {
  const auto both_refuse = [](const Requirements& request, const std::string& fragment) {
    expect_refused([&] { (void)plan_count_min(request); }, {"plan_count_min", fragment});
    expect_refused([&] { (void)plan_count_min_two_hash(request); }, {"plan_count_min_two_hash", fragment});
  };
  both_refuse({}, "0 of epsilon, failure_probability and memory_bytes are given; give exactly two");
  both_refuse({.epsilon = 0.1}, "1 of epsilon");
  both_refuse({.memory_bytes = 100, .epsilon = 0.1, .failure_probability = 0.1}, "3 of epsilon");
  for (const double bad : {0.0, -0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    both_refuse({.epsilon = bad, .failure_probability = 0.1}, "epsilon is");
    both_refuse({.epsilon = 0.1, .failure_probability = bad}, "failure_probability is");
  }
  for (const std::uint32_t bad : {0u, 7u}) {
    both_refuse({.epsilon = 0.1, .failure_probability = 0.1, .counter_bits = bad},
                "counter_bits is " + std::to_string(bad) + "; must be 8, 16, 32 or 64");
  }
  both_refuse({.epsilon = 0.1, .failure_probability = 0.1, .total_count = 0},
              "total_count is 0; must be 1 to 18446744073709551615, or not given");
  both_refuse({.memory_bytes = 0, .epsilon = 0.1},
              "memory_bytes is 0; must be 1 to 18446744073709551615, or not given");
  both_refuse({.memory_bytes = 64, .epsilon = 0.1}, "memory_bytes is 64");
  both_refuse({.memory_bytes = 8, .failure_probability = 0.1}, "memory_bytes is 8");
  expect_refused([] { (void)plan_count_min({.epsilon = 1e-20, .failure_probability = 0.1}); },
                 {"epsilon is"});
}

}  // namespace
}  // namespace tally

#include "tally/theory/dleft_safe_load.hpp"

#include <cmath>

#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

/// Largest fractions of the cells in use with less than 1e-9 of the buckets above their capacity. Computed
/// beside the reference data, to three digits and not always to the nearest: 0.8795 and 0.9285 were cut.
struct Entry {
  std::uint32_t d;
  std::uint32_t c;
  double inserted;
  double churned;
};
constexpr Entry table[] = {{4, 8, .879, .804},  {3, 8, .831, .734},  {2, 8, .697, .567},  {4, 16, .940, .899},
                           {2, 16, .848, .760}, {2, 24, .898, .834}, {2, 32, .924, .873}, {3, 32, .958, .928},
                           {4, 32, .970, .949}, {2, 48, .949, .914}, {2, 64, .962, .935}};

TEST(DLeftSafeLoad, TheTableOfLargestLoadsBelow1e9IsMetToThreeDigits) {
  for (const auto& [d, c, inserted, churned] : table) {
    EXPECT_NEAR(dleft_safe_load_for_share(d, c, 1e-9, insert_only) / c, inserted, 6e-4) << d << " x " << c;
    EXPECT_NEAR(dleft_safe_load_for_share(d, c, 1e-9, steady_state) / c, churned, 6e-4) << d << " x " << c;
  }
}

TEST(DLeftSafeLoad, TheShareIsKeptThereAndNotBeyond) {
  for (const auto& [d, c, inserted, churned] : table) {
    if (c > 16) continue;
    for (const double steps : {insert_only, 0.5, steady_state}) {
      if (steps == 0.5 && c > 8) continue;  // a filling each time
      const double load = dleft_safe_load_for_share(d, c, 1e-9, steps);
      EXPECT_LE(dleft_loads(d, load, steps).fraction(c + 1), 1e-9);
      EXPECT_GT(dleft_loads(d, load * (1 + 1e-6), steps).fraction(c + 1), 1e-9);
    }
  }
}

TEST(DLeftSafeLoad, TheLifetimeIsKeptThereAndNotBeyond) {
  struct Case {
    std::uint32_t d, c;
    std::uint64_t B, N;
    double failure;
  };
  for (const auto& [d, c, B, N, failure] :
       {Case{4, 8, 2048, 1 << 20, 1e-6}, {2, 32, 1 << 20, 0, 1e-3}, {3, 16, 1000, 1 << 30, 0.5}}) {
    const double load = dleft_safe_load(d, B, c, N, failure);
    const auto any = [d = d, c = c, B = B, N = N](double at) {
      const double filling = dleft_expected_overflows_filling(dleft_loads(d, at, insert_only), B, c);
      const double one = dleft_overflow_probability(dleft_loads(d, at, steady_state), c);
      return probability_of_any(filling + static_cast<double>(N) * one);
    };
    EXPECT_LE(any(load), failure * (1 + 1e-6));
    EXPECT_GT(any(load * (1 + 1e-6)), failure);
    // The way to the steady state, left out above, makes it only safer.
    const DLeftExpectedOverflows expected = dleft_expected_overflows(d, B, c, load, N);
    EXPECT_LE(probability_of_any(expected.filling + expected.churning), failure * (1 + 1e-6));
  }
}

TEST(DLeftSafeLoad, ThePapersChoiceOf6Of8IsSafeAnd6Point5IsNot) {
  EXPECT_GT(dleft_safe_load(4, 2048, 8, 10'000ull << 20, 1e-6), 6.0);
  EXPECT_LT(dleft_safe_load(4, 2048, 8, 1 << 20, 1e-6), 6.5);
}

TEST(DLeftSafeLoad, MoreIsAllowedWithMoreSubtablesMoreCellsAndFewerSteps) {
  double last = 0.0;
  for (std::uint32_t d = 1; d <= 5; ++d) {
    const double load = dleft_safe_load(d, 4096, 8, 1 << 20, 1e-6);
    EXPECT_GT(load, last);
    last = load;
  }
  last = 0.0;
  for (const std::uint32_t c : {1u, 2u, 4u, 8u, 16u}) {
    const double used = dleft_safe_load(4, 4096, c, 1 << 20, 1e-6) / c;
    EXPECT_GT(used, last);
    last = used;
  }
  last = 8.0;
  for (const std::uint64_t N : {std::uint64_t{0}, std::uint64_t{1} << 20, std::uint64_t{1} << 40}) {
    const double load = dleft_safe_load(4, 4096, 8, N, 1e-6);
    EXPECT_LT(load, last);
    last = load;
  }
}

TEST(DLeftSafeLoad, ATargetThatFullBucketsKeepAllowsThem) {
  EXPECT_EQ(dleft_safe_load_for_share(4, 4, 0.9, insert_only), 4.0);
  EXPECT_LT(dleft_safe_load_for_share(4, 4, 0.1, insert_only), 4.0);
}

TEST(DLeftSafeLoad, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(dleft_safe_load_for_share(0, 8, 1e-9, insert_only), "d");
  TALLY_EXPECT_REFUSED(dleft_safe_load_for_share(4, 0, 1e-9, insert_only), "c");
  TALLY_EXPECT_REFUSED(dleft_safe_load_for_share(4, 256, 1e-9, insert_only), "c");
  TALLY_EXPECT_REFUSED(dleft_safe_load_for_share(4, 8, 1e-9, -1.0), "steps_per_element");
  for (const double bad : {0.0, 1.0, -1.0, std::nan("")}) {
    TALLY_EXPECT_REFUSED(dleft_safe_load_for_share(4, 8, bad, insert_only), "share");
    TALLY_EXPECT_REFUSED(dleft_safe_load(4, 1, 8, 1, bad), "failure_probability");
  }
  TALLY_EXPECT_REFUSED(dleft_safe_load(4, 0, 8, 1, 0.1), "B");
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/dleft_overflow.hpp"

#include <cmath>
#include <limits>

#include "tally/theory/confidence.hpp"
#include "tally/theory/dleft_fingerprints.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

constexpr std::uint64_t table_buckets = 2048;  // the paper's table, section 5.2: 4 x 2048 buckets of 8 cells
constexpr std::uint64_t table_remainders = 1 << 14;
constexpr std::uint64_t num_steps = 1 << 20;

TEST(DLeftOverflow, AtLoad6Point5TheTrialsOfThePaperOverflowAsOftenAsTheyDid) {
  const double load = dleft_distinct_load(4, table_buckets, table_remainders, 53248);
  const DLeftExpectedOverflows expected = dleft_expected_overflows(4, table_buckets, 8, load, num_steps);
  EXPECT_NEAR(expected.churning, 0.0250, 5e-5);
  EXPECT_LT(expected.filling, 1e-30);
  const double trials = probability_of_any(expected.churning);
  EXPECT_NEAR(trials, 0.0247, 5e-5);
  const CountInterval seen = binomial_acceptance_interval(trials, 10000, 0.99);
  EXPECT_LE(seen.low, 254u);
  EXPECT_GE(seen.high, 254u);
  // The paper's reasoning from x_9, 'slightly over 2%'.
  EXPECT_NEAR(dleft_loads(4, 6.5, steady_state).fraction(9) * num_steps, 0.0231, 5e-5);
}

TEST(DLeftOverflow, AtLoad6Point75FiftyNineRescuesATrialArePredicted) {
  const double load = dleft_distinct_load(4, table_buckets, table_remainders, 55296);
  EXPECT_NEAR(dleft_expected_overflows(4, table_buckets, 8, load, num_steps).churning, 59.0,
              0.5);  // 40 to 100 seen
}

TEST(DLeftOverflow, AtLoad6NothingOverflowsInTheLifeOfTheUniverse) {
  const double load = dleft_distinct_load(4, table_buckets, table_remainders, 49152);
  EXPECT_LT(dleft_expected_overflows(4, table_buckets, 8, load, num_steps).churning, 1e-20);
}

TEST(DLeftOverflow, OneInsertionIsTheProductOverTheSubtables) {
  const DLeftLoads loads = dleft_loads(3, 2.5, 1.5);
  TALLY_EXPECT_RELATIVE(dleft_overflow_probability(loads, 3),
                        loads.fraction(0, 3) * loads.fraction(1, 3) * loads.fraction(2, 3), 1e-14);
  // Each factor may be near 1e-100: only the logarithm has the product.
  DLeftLoads tiny;
  tiny.subtables.assign(8, {1.0, 1e-90});
  TALLY_EXPECT_RELATIVE(ln_dleft_overflow_probability(tiny, 1), 8 * std::log(1e-90), 1e-14);
  EXPECT_EQ(dleft_overflow_probability(tiny, 1), 0.0);
  EXPECT_EQ(ln_dleft_overflow_probability(tiny, 2), -std::numeric_limits<double>::infinity());
}

TEST(DLeftOverflow, InTheSteadyStateAsManyElementsRiseAboveTheCapacityAsFall) {
  for (const std::uint32_t d : {1u, 2u, 4u}) {
    const double load = 6.5;
    const DLeftLoads loads = dleft_loads(d, load, steady_state);
    for (const std::uint32_t c : {7u, 8u, 9u}) {
      double falling = c * loads.fraction(c + 1);
      for (std::uint64_t i = c + 1; loads.fraction(i) > 0.0; ++i) falling += loads.fraction(i);
      TALLY_EXPECT_RELATIVE(dleft_overflow_probability(loads, c), falling / load, 1e-8) << d << " " << c;
    }
  }
}

TEST(DLeftOverflow, FillingIsTheIntegralOfTheProductOverTheLoad) {
  const std::uint32_t d = 2;
  const std::uint32_t c = 3;
  const double load = 2.75;
  const int pieces = 100;  // Simpson's rule
  double integral = 0.0;
  for (int i = 0; i <= pieces; ++i) {
    const double weight = i == 0 || i == pieces ? 1 : i % 2 == 1 ? 4 : 2;
    const double at = load * i / pieces;
    integral += weight * dleft_overflow_probability(dleft_loads(d, at, insert_only), c) * load / pieces / 3;
  }
  const DLeftLoads loads = dleft_loads(d, load, insert_only);
  TALLY_EXPECT_RELATIVE(dleft_expected_overflows_filling(loads, 1000, c), d * 1000 * integral, 1e-7);
  TALLY_EXPECT_RELATIVE(dleft_expected_overflows(d, 1000, c, load, 0).filling, d * 1000 * integral, 1e-7);
  EXPECT_EQ(dleft_expected_overflows(d, 1000, c, load, 0).churning, 0.0);
}

TEST(DLeftOverflow, ChurningIsTheIntegralOnTheWayAndThenTheSteadyProbability) {
  const std::uint32_t d = 2;
  const std::uint64_t B = 1000;
  const std::uint32_t c = 5;
  const double load = 3.5;
  const double elements = d * static_cast<double>(B) * load;
  const int pieces = 60;  // Simpson's rule over 0 to 3 steps per element
  double integral = 0.0;
  for (int i = 0; i <= pieces; ++i) {
    const double weight = i == 0 || i == pieces ? 1 : i % 2 == 1 ? 4 : 2;
    const double steps = 3.0 * i / pieces;
    integral += weight * dleft_overflow_probability(dleft_loads(d, load, steps), c) * 3.0 / pieces / 3;
  }
  const auto churning = [&](double steps) {
    return dleft_expected_overflows(d, B, c, load, static_cast<std::uint64_t>(steps * elements)).churning;
  };
  TALLY_EXPECT_RELATIVE(churning(3.0), integral * elements, 1e-5);
  const double steady = dleft_overflow_probability(dleft_loads(d, load, steady_state), c) * elements;
  TALLY_EXPECT_RELATIVE(churning(1000.0) - churning(60.0), 940.0 * steady, 1e-8);
  TALLY_EXPECT_RELATIVE(churning(60.0) - churning(40.0), 20.0 * steady, 1e-7);
  EXPECT_LT(churning(60.0), 60.0 * steady);
  EXPECT_EQ(dleft_expected_overflows(d, B, c, 0.0, 100).churning, 0.0);
}

TEST(DLeftOverflow, ACapacityNoBucketReachesIsNeverExceeded) {
  const DLeftExpectedOverflows expected = dleft_expected_overflows(4, table_buckets, 200, 3.0, num_steps);
  EXPECT_EQ(expected.filling, 0.0);
  EXPECT_EQ(expected.churning, 0.0);
}

TEST(DLeftOverflow, AtLeastOneOfFewIsTheNumberExpected) {
  TALLY_EXPECT_RELATIVE(probability_of_any(1e-20), 1e-20, 1e-14);
  TALLY_EXPECT_RELATIVE(probability_of_any(1.0), 1.0 - std::exp(-1.0), 1e-14);
  EXPECT_EQ(probability_of_any(0.0), 0.0);
  EXPECT_EQ(probability_of_any(1e9), 1.0);
}

TEST(DLeftOverflow, BadParametersAreRefusedByName) {
  const DLeftLoads loads = dleft_loads(2, 1.0, insert_only);
  for (const std::uint32_t bad : {0u, 256u}) {
    TALLY_EXPECT_REFUSED(dleft_overflow_probability(loads, bad), "c");
    TALLY_EXPECT_REFUSED(dleft_expected_overflows_filling(loads, 1, bad), "c");
    TALLY_EXPECT_REFUSED(dleft_expected_overflows(2, 1, bad, 1.0, 1), "c");
  }
  TALLY_EXPECT_REFUSED(dleft_expected_overflows_filling(loads, 0, 1), "B");
  TALLY_EXPECT_REFUSED(dleft_expected_overflows(9, 1, 1, 1.0, 1), "d");
  TALLY_EXPECT_REFUSED(dleft_expected_overflows(2, 1, 1, std::nan(""), 1), "average_load");
  TALLY_EXPECT_REFUSED(probability_of_any(-1.0), "expected");
  TALLY_EXPECT_REFUSED(probability_of_any(std::nan("")), "expected");
}

}  // namespace
}  // namespace tally::theory

#include "tally/theory/dleft_few_buckets.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_overflow.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

/// The bucket that takes an element, or no bucket (the number of all) if the chosen ones are full.
std::size_t taker(const std::vector<std::uint32_t>& loads, const std::vector<std::size_t>& chosen,
                  std::uint32_t c) {
  std::size_t best = chosen[0];
  for (const std::size_t bucket : chosen) {
    if (loads[bucket] < loads[best]) best = bucket;
  }
  return loads[best] < c ? best : loads.size();
}

/// The probability that any of n insertions overflows: all their choices one after the other.
double any_overflow_by_all_choices(std::uint32_t d, std::size_t B, std::uint32_t c, std::uint64_t n,
                                   const std::vector<std::uint32_t>& loads) {
  if (n == 0) return 0.0;
  double sum = 0.0;
  double num_choices = 0.0;
  test::for_every_outcome(static_cast<unsigned>(B), d, [&](const auto& digits) {
    std::vector<std::size_t> chosen;
    for (std::uint32_t j = 0; j < d; ++j) chosen.push_back(j * B + digits[j]);
    const std::size_t to = taker(loads, chosen, c);
    num_choices += 1.0;
    if (to == loads.size()) {
      sum += 1.0;
      return;
    }
    std::vector<std::uint32_t> next = loads;
    ++next[to];
    sum += any_overflow_by_all_choices(d, B, c, n - 1, next);
  });
  return sum / num_choices;
}

TEST(DLeftFewBuckets, FillingOverflowsAsOftenAsAllChoicesOneByOneSay) {
  struct Case {
    std::uint32_t d;
    std::size_t B;
    std::uint32_t c;
    std::uint64_t n;
  };
  for (const Case& each :
       {Case{1, 2, 2, 4}, Case{2, 2, 1, 4}, Case{2, 2, 2, 7}, Case{2, 3, 1, 5}, Case{3, 2, 1, 6}}) {
    const double truth = any_overflow_by_all_choices(each.d, each.B, each.c, each.n,
                                                     std::vector<std::uint32_t>(each.d * each.B, 0));
    EXPECT_GT(truth, 0.0);
    TALLY_EXPECT_RELATIVE(dleft_any_overflow_filling(each.d, each.B, each.c, each.n), truth, 1e-12);
  }
}

TEST(DLeftFewBuckets, NothingOverflowsUntilDBucketsCanBeFull) {
  for (const auto& [d, c] : {std::pair(2u, 8u), std::pair(3u, 4u), std::pair(4u, 2u)}) {
    EXPECT_EQ(dleft_any_overflow_filling(d, 2, c, d * c), 0.0);
    EXPECT_GT(dleft_any_overflow_filling(d, 2, c, d * c + 1), 0.0);
    EXPECT_EQ(dleft_overflow_churning(d, 2, c, d * c), 0.0);
    EXPECT_GT(dleft_overflow_churning(d, 2, c, d * c + 1), 0.0);
    EXPECT_EQ(dleft_any_overflow_filling(d, 1, c, d * c), 0.0) << "one bucket per subtable";
    EXPECT_EQ(dleft_overflow_churning(d, 1, c, d * c), 0.0);
  }
}

TEST(DLeftFewBuckets, OverflowsRiseWithTheNumberOfElements) {
  double last_filling = 0.0;
  double last_churning = 0.0;
  for (std::uint64_t n = 17; n <= 48; n += 4) {
    const double filling = dleft_any_overflow_filling(2, 3, 8, n);
    const double churning = dleft_overflow_churning(2, 3, 8, n);
    EXPECT_GT(filling, last_filling) << n;
    EXPECT_GT(churning, last_churning) << n;
    EXPECT_LE(filling, static_cast<double>(n) * churning) << n << ": insertions count like replacements";
    last_filling = filling;
    last_churning = churning;
  }
  EXPECT_LE(last_filling, 1.0);
  EXPECT_LE(last_churning, 1.0);
}

/// The share of the replacements that find no room, in a table at random.
double simulated_overflow_churning(std::uint32_t d, std::size_t B, std::uint32_t c, std::uint64_t n,
                                   double num_steps) {
  std::mt19937_64 random(7);
  std::vector<std::uint32_t> loads(d * B, 0);
  std::vector<std::size_t> bucket_of;
  const auto place = [&] {
    std::vector<std::size_t> chosen;
    for (std::uint32_t j = 0; j < d; ++j) chosen.push_back(j * B + random() % B);
    return taker(loads, chosen, c);
  };
  while (bucket_of.size() < n) {
    const std::size_t to = place();
    if (to == loads.size()) continue;
    ++loads[to];
    bucket_of.push_back(to);
  }
  double num_overflows = 0.0;
  const double before = 20.0 * static_cast<double>(n);  // steps that lead to the steady state
  for (double step = -before; step < num_steps; ++step) {
    std::size_t& element = bucket_of[random() % n];
    --loads[element];
    const std::size_t to = place();
    if (to == loads.size()) {
      if (step >= 0) num_overflows += 1.0;
    } else {
      element = to;
    }
    ++loads[element];
  }
  return num_overflows / num_steps;
}

TEST(DLeftFewBuckets, ChurningOverflowsAsOftenAsASimulationSays) {
  // About 10,500 overflows are expected, in groups: 6% are about four standard errors.
  TALLY_EXPECT_RELATIVE(simulated_overflow_churning(3, 2, 4, 19, 2e6), dleft_overflow_churning(3, 2, 4, 19),
                        0.06);
}

TEST(DLeftFewBuckets, TheFluidLimitIsTooLowForOverflowsInFewBuckets) {
  // 2 x 32 cells at load 0.9. 400 to 1000 overflows are counted, in groups: the tolerances are about three standard errors.
  const double limit = dleft_overflow_probability(dleft_loads(2, 0.9 * 32, steady_state), 32);
  struct Case {
    std::size_t B;
    double num_steps;
    double times;  ///< as in docs/theory.md
    double tolerance;
  };
  for (const Case& expected : {Case{8, 4e6, 3.8, 0.15}, {32, 8e6, 1.9, 0.17}, {256, 6e6, 1.2, 0.12}}) {
    const auto n = static_cast<std::uint64_t>(std::lround(0.9 * 32 * 2 * static_cast<double>(expected.B)));
    TALLY_EXPECT_RELATIVE(simulated_overflow_churning(2, expected.B, 32, n, expected.num_steps) / limit,
                          expected.times, expected.tolerance)
        << " with " << expected.B << " buckets";
  }
}

TEST(DLeftFewBuckets, TheFluidLimitIsNoBoundDeepInItsTail) {
  // Load 0.47 of 2 x 4 buckets of 8 cells.
  const double limit = dleft_overflow_probability(dleft_loads(2, 30.0 / 8, steady_state), 8);
  TALLY_EXPECT_RELATIVE(dleft_overflow_churning(2, 4, 8, 30), 1.39993e-08, 1e-4);
  EXPECT_LT(limit, 1e-19);
  // At a load where overflows are frequent, it is right within a factor of two.
  const double frequent = dleft_overflow_probability(dleft_loads(2, 46.0 / 8, steady_state), 8);
  EXPECT_LT(std::fabs(std::log(dleft_overflow_churning(2, 4, 8, 46) / frequent)), std::log(3.0));
}

TEST(DLeftFewBuckets, RefusesTablesThatAreTooLarge) {
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(0, 2, 8, 4), "d");
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(9, 2, 8, 4), "d");
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(2, 0, 8, 4), "B");
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(2, 13, 1, 4), "B");
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(2, 2, 0, 4), "c");
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(2, 2, 8, 33), "n");
  TALLY_EXPECT_REFUSED(dleft_any_overflow_filling(2, 12, 32, 600), "the number of states");
  TALLY_EXPECT_REFUSED(dleft_overflow_churning(2, 2, 8, 0), "n");
  TALLY_EXPECT_REFUSED(dleft_overflow_churning(4, 4, 8, 100), "the number of states");
}

}  // namespace
}  // namespace tally::theory

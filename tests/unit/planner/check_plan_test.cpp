#include "tally/planner/check_plan.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "tally/theory/compound_poisson.hpp"

namespace tally {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t mib = 1 << 20;

Requirements all_three(std::uint64_t num_keys, double rate, std::uint64_t memory_bytes) {
  return {.num_keys = num_keys, .false_positive_rate = rate, .memory_bytes = memory_bytes};
}

TEST(CheckPlan, SaysThatAMemoryIsEnoughAndWhatIsLeft) {
  const PlanCheck check = check_plan(all_three(1'000'000, 0.01, 2 * mib));
  EXPECT_TRUE(check.is_enough());
  const StructureFit& first = check.structures.front();
  EXPECT_EQ(first.kind, FilterKind::bloom);
  ASSERT_TRUE(first.needed && first.with_memory && first.with_most_keys);
  EXPECT_LE(first.needed->shape.num_bytes(), 2 * mib);
  EXPECT_LT(first.with_memory->false_positive_rate, 0.01);
  EXPECT_GT(first.with_most_keys->num_keys, 1'000'000);
}

TEST(CheckPlan, SaysWhatWouldDoIfItIsNotEnough) {
  const PlanCheck check = check_plan(all_three(1'000'000, 0.01, mib));
  EXPECT_FALSE(check.is_enough());
  ASSERT_NE(check.with_least_memory(), nullptr);
  ASSERT_NE(check.with_lowest_rate(), nullptr);
  ASSERT_NE(check.with_most_keys(), nullptr);
  EXPECT_TRUE(
      check_plan(all_three(1'000'000, 0.01, check.with_least_memory()->shape.num_bytes())).is_enough());
  EXPECT_FALSE(
      check_plan(all_three(1'000'000, 0.01, check.with_least_memory()->shape.num_bytes() - 8)).is_enough());
  EXPECT_TRUE(
      check_plan(all_three(1'000'000, check.with_lowest_rate()->false_positive_rate * (1 + 1e-9), mib))
          .is_enough());
  EXPECT_FALSE(check_plan(all_three(1'000'000, check.with_lowest_rate()->false_positive_rate * 0.999, mib))
                   .is_enough());
  EXPECT_TRUE(check_plan(all_three(check.with_most_keys()->num_keys, 0.01, mib)).is_enough());
  EXPECT_FALSE(check_plan(all_three(check.with_most_keys()->num_keys + 100, 0.01, mib)).is_enough());
}

TEST(CheckPlan, OfStructuresThatFitHasNoWorseRateAndNoFewerKeysThanAsked) {
  for (const std::uint64_t num_keys : {std::uint64_t{10}, std::uint64_t{10'000}, std::uint64_t{50'000'000}}) {
    for (const double rate : {0.3, 0.01, 1e-6}) {
      for (const double bits : {2.0, 12.0, 40.0, 500.0}) {
        for (const std::uint64_t theta : {1, 4}) {
          Requirements wanted = all_three(
              num_keys, rate, static_cast<std::uint64_t>(bits * static_cast<double>(num_keys)) / 8 + 8);
          wanted.threshold = theta;
          wanted.needs_deletes = bits > 10;
          const PlanCheck check = check_plan(wanted);
          bool may_fit = true;
          for (const StructureFit& fit : check.structures) {
            EXPECT_TRUE(!fit.fits || may_fit);  // those that fit come first
            may_fit = may_fit && fit.fits;
            if (fit.with_memory) {
              EXPECT_LE(fit.with_memory->shape.num_bytes(), check.memory_bytes);
            }
            if (fit.with_most_keys) {
              EXPECT_LE(fit.with_most_keys->shape.num_bytes(), check.memory_bytes);
            }
            if (!fit.fits) continue;
            ASSERT_TRUE(fit.with_memory && fit.with_most_keys);
            EXPECT_LE(fit.with_memory->errors.back().ln_false_positive_rate, std::log(rate) + 1e-12);
            EXPECT_GE(fit.with_most_keys->num_keys, num_keys);
          }
        }
      }
    }
  }
}

TEST(CheckPlan, TakesTheKeysOfAHistogram) {
  Requirements wanted{.false_positive_rate = 0.01, .memory_bytes = mib, .threshold = 3};
  wanted.histogram = theory::make_count_histogram({{1, 100'000}, {5, 1000}}, 16);
  const PlanCheck check = check_plan(wanted);
  EXPECT_EQ(check.num_keys, 101'000);
  EXPECT_TRUE(check.is_enough());
  for (const StructureFit& fit : check.structures) {
    if (fit.promised_true_count < 2) {
      EXPECT_FALSE(fit.with_most_keys);  // its rate depends on the counts
    }
  }
}

TEST(CheckPlan, KeepsTheReasonsWhyAStructureIsLeftOut) {
  Requirements wanted = all_three(1'000'000, 0.01, 2 * mib);
  wanted.needs_deletes = true;
  wanted.threshold = 100;
  wanted.counter_bits = 4;  // counters are too narrow
  const PlanCheck check = check_plan(wanted);
  EXPECT_FALSE(check.warnings.empty());
}

TEST(CheckPlan, NeedsAllThree) {
  for (const Requirements& two :
       {Requirements{.num_keys = 10, .false_positive_rate = 0.1},
        Requirements{.num_keys = 10, .memory_bytes = 64},
        Requirements{.false_positive_rate = 0.1, .memory_bytes = 64}, Requirements{}}) {
    EXPECT_THAT([&] { (void)check_plan(two); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("give all three")));
  }
  const auto refused = [](const Requirements& wanted, const char* message) {
    EXPECT_THAT([&] { (void)check_plan(wanted); }, ThrowsMessage<std::invalid_argument>(HasSubstr(message)));
  };
  refused(all_three(0, 0.1, 64), "check_plan: num_keys is 0");
  refused(all_three(10, 1, 64), "check_plan: false_positive_rate is 1");
  refused(all_three(10, 0.1, 7), "check_plan: memory_bytes is 7");
  Requirements of_bad_scheme = all_three(10, 0.1, 64);
  of_bad_scheme.scheme = "nonsense";
  refused(of_bad_scheme, "nonsense");
}

}  // namespace
}  // namespace tally

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_refused.hpp"
#include "tally/planner.hpp"
#include "tally/theory/counter_saturation.hpp"
#include "tally/theory/insertion_histogram.hpp"

namespace tally {
namespace {

using test::expect_refused;

const Candidate& candidate_of(const Plan& plan, FilterKind kind) {
  return *std::ranges::find_if(plan.candidates, [&](const Candidate& c) { return c.kind() == kind; });
}

double expected_of_keys(const Candidate& candidate, std::uint64_t full, std::uint64_t num_replacements) {
  return theory::expected_saturated_counters(candidate.shape.num_positions(), candidate.shape.num_hashes(),
                                             candidate.num_keys, full, num_replacements);
}

TEST(PlanSaturation, CountsTheReplacementsOfThePlannedLife) {
  const Requirements filled{.num_keys = 1'000'000, .false_positive_rate = 0.01, .needs_counts = true};
  Requirements removed = filled;
  removed.needs_deletes = true;
  Requirements long_life = removed;
  long_life.lifetime_operations = 1'000'000'000'000;
  for (const auto& [requirements, num_replacements] :
       {std::pair(filled, std::uint64_t{0}), std::pair(removed, std::uint64_t{1'000'000'000}),
        std::pair(long_life, std::uint64_t{1'000'000'000'000})}) {
    const Plan result = plan(requirements);
    const Candidate& plain = candidate_of(result, FilterKind::counting_bloom);
    EXPECT_EQ(plain.shape.counter_bits(), 4u);
    const double expected = expected_of_keys(plain, 15, num_replacements);
    EXPECT_DOUBLE_EQ(plain.expected_saturated_counters, expected);
    EXPECT_DOUBLE_EQ(plain.saturation_probability, std::min(1.0, expected));
    const Candidate& lines = candidate_of(result, FilterKind::blocked_counting_bloom);
    EXPECT_DOUBLE_EQ(lines.expected_saturated_counters,
                     theory::blocked_expected_saturated_counters(lines.shape.num_positions() / 128, 128,
                                                                 lines.shape.num_hashes(), 1'000'000, 15,
                                                                 num_replacements));
  }
}

TEST(PlanSaturation, CountersAreWiderWhereTheStatedLifeWouldSaturateMoreThanOneInAMillion) {
  Requirements requirements{.num_keys = 1'000'000, .false_positive_rate = 0.01, .needs_deletes = true};
  std::uint32_t last = 0;
  for (const std::uint64_t life : {0ull, 1'000'000'000ull, 1'000'000'000'000'000ull, ~0ull}) {
    requirements.lifetime_operations = life;
    for (const FilterKind kind : {FilterKind::counting_bloom, FilterKind::blocked_counting_bloom}) {
      const Candidate candidate = candidate_of(plan(requirements), kind);
      EXPECT_LE(candidate.expected_saturated_counters,
                1e-6 * static_cast<double>(candidate.shape.num_positions()));
      EXPECT_LE(candidate.false_positive_rate, 0.0100001);
    }
    const CountingBloomShape shape = plan_counting_bloom(requirements);
    EXPECT_GE(shape.counter_bits, last);
    last = shape.counter_bits;
    EXPECT_EQ(shape.counter_bits, life < 1'000'000'000'000 ? 4u : 5u) << life;
  }
}

TEST(PlanSaturation, TheRateIncludesWhatSaturatedCountersAdd) {
  Requirements requirements{.num_keys = 100'000,
                            .false_positive_rate = 0.01,
                            .needs_deletes = true,
                            .lifetime_operations = 1'000'000,
                            .counter_bits = 3};
  const Plan some = plan(requirements);
  const Candidate& candidate = candidate_of(some, FilterKind::counting_bloom);
  const double share =
      candidate.expected_saturated_counters / static_cast<double>(candidate.shape.num_positions());
  EXPECT_GT(share, 1e-4);
  EXPECT_NEAR(candidate.false_positive_rate,
              theory::saturated_false_positive_probability(candidate.shape.num_positions(),
                                                           candidate.shape.num_hashes(), 100'000, share),
              1e-9);
  requirements.lifetime_operations.reset();
  requirements.counter_bits = 2;
  requirements.prefers_speed = true;
  const Plan all = plan(requirements);
  EXPECT_EQ(candidate_of(all, FilterKind::counting_bloom).false_positive_rate, 1.0);
  EXPECT_EQ(all.recommended().kind(), FilterKind::dleft);
}

TEST(PlanSaturation, KnownRepeatsCount) {
  const Requirements filled{
      .num_keys = 100'000, .false_positive_rate = 0.01, .needs_counts = true, .num_insertions = 300'000};
  const Plan once = plan(filled);
  const Candidate& candidate = candidate_of(once, FilterKind::counting_bloom);
  EXPECT_EQ(candidate.shape.counter_bits(), 4u);
  EXPECT_DOUBLE_EQ(candidate.expected_saturated_counters,
                   theory::compound_expected_saturated_counters(
                       theory::insertion_count_histogram(100'000, 300'000, 15), candidate.shape.num_hashes(),
                       candidate.shape.num_positions(), 15, 0));
  EXPECT_LE(candidate.false_positive_rate, 0.01) << "a counter that was only filled is high anyway";
  // If keys are replaced, counters of 4 bits would all be saturated at the end.
  Requirements replaced = filled;
  replaced.needs_deletes = true;
  const Plan result = plan(replaced);
  for (const FilterKind kind : {FilterKind::counting_bloom, FilterKind::blocked_counting_bloom}) {
    const Candidate& wide = candidate_of(result, kind);
    EXPECT_GE(wide.shape.counter_bits(), 6u);
    EXPECT_LE(wide.expected_saturated_counters, 1e-6 * static_cast<double>(wide.shape.num_positions()));
    EXPECT_LE(wide.false_positive_rate, 0.0100001);
  }
}

TEST(PlanSaturation, DLeftFiltersTakeTheNumberOfInsertionsOnlyWithTheNumberOfKeys) {
  expect_refused(
      [] { (void)plan_dleft({.false_positive_rate = 0.1, .memory_bytes = 10'000, .num_insertions = 9}); },
      {"num_insertions", "num_keys"});
  expect_refused([] { (void)plan_dleft({.num_keys = 10, .false_positive_rate = 0.1, .num_insertions = 9}); },
                 {"num_insertions is 9"});
  expect_refused(
      [] {
        (void)plan_dleft({.false_positive_rate = 0.1,
                          .num_insertions = 9,
                          .histogram = theory::make_count_histogram({{1, 9.0}}, 4)});
      },
      {"num_insertions", "histogram"});
  expect_refused(
      [] {
        (void)plan_compact_dleft(
            {.num_keys = 10, .false_positive_rate = 0.1, .keys_repeat = false, .failure_probability = 0.9});
      },
      {"failure_probability is 0.9"});
}

// The search halves the side table as buckets are added, so the number of entries must fall.
TEST(PlanSaturation, MoreMemoryNeverGivesADLeftFilterThatErrsMore) {
  for (const bool keys_repeat : {true, false}) {
    for (const std::uint64_t num_insertions : {5000ull, 9000ull}) {
      double last = 1;
      for (std::uint64_t memory = 12'000; memory < 60'000; memory += 400) {
        Requirements requirements{.num_keys = 5000, .memory_bytes = memory, .keys_repeat = keys_repeat};
        if (keys_repeat) requirements.num_insertions = num_insertions;
        const DLeftShape shape = plan_dleft(requirements);
        const double rate = 5000 / shape.fingerprint_space().num_fingerprints();
        requirements.prefers_speed = false;
        EXPECT_LE(num_bytes(shape), memory);
        EXPECT_LE(rate, last * 1.001) << memory;
        last = rate;
      }
    }
  }
}

}  // namespace
}  // namespace tally

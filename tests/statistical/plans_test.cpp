// What plans of random requests have in common. random_plans_test.cpp builds them and drives them to their promises.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/plan_request.hpp"
#include "support/planned_filter.hpp"
#include "tally/any_filter.hpp"
#include "tally/planner.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/theory/threshold.hpp"

namespace tally::test {
namespace {

constexpr double most_keys = 4000;

// Sizes with a plan leave no size without one between them, of all structures together and of each.
TEST(Plans, WhatIsRefusedHasNoPlanInLessMemory) {
  std::uint64_t num_refused = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    PlanRequest request = random_plan_request(seed, most_keys);
    Requirements& wanted = request.requirements;
    if (!wanted.histogram && !wanted.num_keys) wanted.num_keys = request.counts.size();
    wanted.false_positive_rate.reset();
    wanted.needs_deletes = true;
    wanted.scheme.reset();
    std::set<std::string_view> planned;
    for (double bits = 5; bits < 60; bits *= 1.03) {
      wanted.memory_bytes = static_cast<std::uint64_t>(bits * static_cast<double>(request.counts.size()) / 8);
      std::set<std::string_view> now;
      if (const std::optional<Plan> found = plan_if_any(wanted)) {
        now.insert("any");
        for (const Candidate& candidate : found->candidates) now.insert(name_of(candidate.kind()));
      }
      num_refused += !now.contains("dleft");
      for (const std::string_view kind : planned)
        EXPECT_TRUE(now.contains(kind)) << request.command_line() << ": " << kind;
      planned.merge(now);
    }
  }
  EXPECT_GT(num_refused, 15u);
  // As it was found.
  EXPECT_TRUE(plan_if_any(
      {.num_keys = 10'000'000, .memory_bytes = 12'603'040, .needs_deletes = true, .max_doublings = 2}));
  for (std::uint64_t memory = 1'060'000; memory <= 1'540'000; memory += 60'000) {
    EXPECT_TRUE(plan_if_any(
        {.num_keys = 1'000'000, .memory_bytes = memory, .needs_deletes = true, .max_doublings = 2}))
        << memory;
  }
}

/// How much worse a plan with more memory may be: no worse, but for two schemes. Without a scheme a blocked Bloom filter has the fast one if that
/// is as good as the other with 10% less memory; and double hashing depends on the divisors of the number of positions.
double most_worse(const Requirements& wanted, std::string_view kind) {
  if (kind == "blocked-bloom") return wanted.scheme && is_line_scheme(scheme_id(*wanted.scheme)) ? 1 : 1.1;
  return wanted.scheme && double_hashing_of(scheme_id(*wanted.scheme)) ? 1.02 : 1;
}

// The best of each structure: with more memory its rate never rises, and the keys that it holds never fall.
void expect_more_memory_is_never_worse(std::uint64_t num_requests, double most_keys_of_all, double step) {
  std::uint64_t num_compared = 0;
  for (std::uint64_t seed = 1; seed <= num_requests; ++seed) {
    PlanRequest request = random_plan_request(seed, most_keys_of_all);
    Requirements& wanted = request.requirements;
    const bool is_by_rate = seed % 2 == 0 && !wanted.histogram && !wanted.num_insertions;
    if (is_by_rate) {
      wanted.num_keys.reset();
      if (!wanted.false_positive_rate) wanted.false_positive_rate = 0.01;
    } else {
      wanted.false_positive_rate.reset();
      if (!wanted.histogram) wanted.num_keys = request.counts.size();
    }
    std::map<std::string, std::map<double, double>> found;  // by name: how good, by memory
    for (double bits = 4; bits < 80; bits *= step) {
      const double bytes = std::max(8.0, std::floor(bits * static_cast<double>(request.counts.size()) / 8));
      wanted.memory_bytes = static_cast<std::uint64_t>(bytes);
      const std::optional<Plan> plan = plan_if_any(wanted);
      if (!plan) continue;
      for (const Candidate& candidate : plan->candidates) {
        std::string name(name_of(candidate.kind()));
        if (candidate.promised_true_count + 1 < wanted.theta()) name += " for keys never inserted";
        const double good =
            is_by_rate ? static_cast<double>(candidate.num_keys) : 1 / candidate.false_positive_rate;
        double& best = found[name][bytes];
        best = std::max(best, good);
      }
    }
    for (const auto& [name, by_memory] : found) {
      double best = 0;
      const double slack = most_worse(wanted, name);
      for (const auto& [bytes, good] : by_memory) {
        for (auto less = by_memory.begin(); less->first * (slack > 1.05 ? slack : 1) < bytes; ++less)
          best = std::max(best, less->second);
        EXPECT_GE(good * (slack < 1.05 ? slack : 1), best * (1 - 1e-9))
            << request.command_line() << " with " << bytes << " bytes: " << name;
        ++num_compared;
      }
    }
  }
  EXPECT_GT(num_compared, 60 * num_requests);
}

TEST(Plans, OfEveryStructureMoreMemoryIsNeverWorse) { expect_more_memory_is_never_worse(20, 1e4, 1.1); }
TEST(Plans, SlowOfEveryStructureMoreMemoryIsNeverWorse) { expect_more_memory_is_never_worse(300, 1e6, 1.03); }

// Numbers in notes: those behind the sentence, against counts that were never put into a histogram.
TEST(Plans, TheSimpleFormulaIsGivenAllInsertions) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const PlanRequest request = random_plan_request(seed, most_keys);
    const Requirements& wanted = request.requirements;
    const std::optional<Plan> found = plan_if_any(wanted);
    if (!found) continue;
    const std::uint64_t num_insertions =
        std::accumulate(request.counts.begin(), request.counts.end(), std::uint64_t{0});
    for (const Candidate& candidate : found->candidates) {
      // The formula does not hold for fingerprints, nor in lines.
      const bool has_one = wanted.histogram && wanted.theta() > 1 && candidate.kind() != FilterKind::dleft &&
                           candidate.kind() != FilterKind::blocked_counting_bloom;
      ASSERT_EQ(candidate.simple_threshold_rate.has_value(), has_one);
      if (!has_one) continue;
      const double expected = theory::threshold_false_positive_probability(
          wanted.theta(), candidate.shape.num_hashes(), num_insertions, candidate.shape.num_positions());
      EXPECT_NEAR(*candidate.simple_threshold_rate / expected, 1, 1e-9) << request.command_line();
    }
  }
}

// A side table is planned for what will be in it.
TEST(Plans, TheSideTableHoldsAsManyAsAreExpected) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    PlanRequest request;
    for (int i = 0; i < 20'000; ++i) request.counts.push_back(skewed_count(random, 100));
    request.requirements = {.false_positive_rate = 0.02,
                            .needs_counts = true,
                            .histogram = histogram_of_counts(request.counts, 256)};
    for (const Candidate& candidate : plan(request.requirements).candidates) {
      if (candidate.kind() != FilterKind::dleft) continue;
      PlannedFilter filter(request, candidate, seed);
      EXPECT_EQ(filter.fill(), 0u);
      const DLeftTableStatistics table = filter.filter().dleft_statistics()->table;
      const double expected = candidate.dleft->expected_spills;
      EXPECT_NEAR(static_cast<double>(table.num_spilled), expected, 5 * std::sqrt(expected) + 1) << seed;
      EXPECT_NEAR(static_cast<double>(table.num_fingerprints) / static_cast<double>(table.num_cells),
                  candidate.dleft->load, 0.01);
    }
  }
}

}  // namespace
}  // namespace tally::test

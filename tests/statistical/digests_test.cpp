// Digests made of a hash of 64 bits are as good as those of a hash of 128: 99.9% two-sided for all cells together.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/expect_rates.hpp"
#include "support/filters.hpp"
#include "tally/any_filter.hpp"
#include "tally/planner.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t num_digests = 4096;

MeasuredRate measure(const FilterShape& shape, Random& random) {
  MeasuredRate measured(usual_num_queries);
  std::vector<Hash128> keys(num_digests);
  std::vector<Hash128> absent(usual_num_queries);
  for (std::uint64_t i = 0; i < num_trials(100); ++i) {
    AnyFilter filter(shape, 0);
    for (Hash128& digest : keys) digest = digest_from(random.next());
    for (Hash128& digest : absent) digest = digest_from(random.next());
    EXPECT_EQ(filter.insert_batch(keys), 0u);
    const auto found = ask_batch(usual_num_queries,
                                 [&](std::span<bool> results) { filter.may_contain_batch(absent, results); });
    measured.add_filter(static_cast<std::uint64_t>(std::ranges::count(found, true)));
  }
  return measured;
}

TEST(DigestsOfSixtyFourBits, GiveThePlannedRateInEveryCandidate) {
  std::vector<Cell> cells;
  Random random(1);
  for (const bool needs_deletes : {false, true}) {
    const Plan planned =
        plan({.num_keys = num_digests, .false_positive_rate = 0.01, .needs_deletes = needs_deletes});
    for (const Candidate& candidate : planned.candidates) {
      cells.push_back({std::string(name_of(candidate.kind())) + " " + std::to_string(cells.size()),
                       candidate.false_positive_rate, measure(candidate.shape, random)});
    }
  }
  ASSERT_GE(cells.size(), 4u);
  expect_predicted(cells);
}

}  // namespace
}  // namespace tally::test

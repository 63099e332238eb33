#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "support/measured_rate.hpp"

namespace tally::test {

/// Every prediction lies inside the two-sided limits of its measurement, 99.9% for all cells together.
inline void expect_predicted(const std::vector<Cell>& cells) {
  ASSERT_FALSE(cells.empty());
  const double confidence = theory::per_test_confidence(family_confidence, cells.size());
  for (const Cell& cell : cells) {
    const theory::ProbabilityInterval limits = cell.measured.limits(confidence);
    EXPECT_TRUE(limits.low <= cell.predicted && cell.predicted <= limits.high)
        << cell.name << ": predicted " << cell.predicted << ", measured " << cell.measured.rate() << " in "
        << cell.measured.num_queries() << " queries, limits " << limits.low << " to " << limits.high
        << ", design effect " << cell.measured.design_effect();
  }
}

/// No measurement lies above its prediction, 99.9% for all cells together (one-sided).
inline void expect_at_most_predicted(const std::vector<Cell>& cells) {
  ASSERT_FALSE(cells.empty());
  const double two_sided = 1 - 2 * (1 - theory::per_test_confidence(family_confidence, cells.size()));
  for (const Cell& cell : cells) {
    EXPECT_LE(cell.measured.limits(two_sided).low, cell.predicted)
        << cell.name << ": measured " << cell.measured.rate() << " in " << cell.measured.num_queries()
        << " queries";
  }
}

}  // namespace tally::test

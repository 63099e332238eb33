#include "report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace tally::experiments {
namespace {

/// The last two columns of a report of one row: holds, paper.
std::string verdicts(Row row) {
  Report report;
  row.setting = "s";
  row.quantity = "q";
  report.add(std::move(row));
  std::ostringstream out;
  report.write(out);
  std::string text = out.str();
  text.pop_back();
  return text.substr(text.rfind(',', text.rfind(',') - 1) + 1);
}

Measured between(double low, double high) {
  return {(low + high) / 2, 10, [=](double) { return Limits{low, high}; }};
}

TEST(Report, APredictionHoldsInsideTheLimitsOnly) {
  EXPECT_EQ(verdicts({.predicted = 2, .measured = between(1, 3)}), "yes,");
  EXPECT_EQ(verdicts({.predicted = 4, .measured = between(1, 3)}), "no,");
  EXPECT_EQ(verdicts({.predicted = 0.5, .measured = between(1, 3)}), "no,");
  EXPECT_EQ(verdicts({.measured = between(1, 3)}), ",");
}

TEST(Report, AClaimOfLessOrMoreIsUndecidedInsideTheLimits) {
  EXPECT_EQ(verdicts({.claim = Claim::below, .predicted = 4, .measured = between(1, 3)}), "yes,");
  EXPECT_EQ(verdicts({.claim = Claim::below, .predicted = 2, .measured = between(1, 3)}), "undecided,");
  EXPECT_EQ(verdicts({.claim = Claim::below, .predicted = 0, .measured = between(1, 3)}), "no,");
  EXPECT_EQ(verdicts({.claim = Claim::above, .predicted = 0, .measured = between(1, 3)}), "yes,");
  EXPECT_EQ(verdicts({.claim = Claim::above, .predicted = 4, .measured = between(1, 3)}), "no,");
}

TEST(Report, APublishedNumberIsAllThatItsDigitsMayStandFor) {
  EXPECT_EQ(verdicts({.published = "0.29", .measured = between(0.2940, 0.2949)}), ",yes");
  EXPECT_EQ(verdicts({.published = "0.29", .measured = between(0.2951, 0.2955)}), ",no");
  EXPECT_EQ(verdicts({.published = "0.290", .measured = between(0.2940, 0.2949)}), ",no");
  EXPECT_EQ(verdicts({.published = "1.681e-27", .predicted = 1.6808e-27}), ",yes");
  EXPECT_EQ(verdicts({.published = "1.681e-27", .predicted = 1.6818e-27}), ",no");
  EXPECT_EQ(verdicts({.published = "40 to 100", .measured = between(1, 3)}), ",");
}

TEST(Report, OneContradictionIsEnough) {
  Report report;
  report.add({.setting = "a", .quantity = "q", .predicted = 2, .measured = between(1, 3)});
  EXPECT_TRUE(report.holds());
  report.add({.setting = "b", .quantity = "q", .predicted = 4, .measured = between(1, 3)});
  EXPECT_FALSE(report.holds());
}

TEST(Report, RefusesWhatWouldBreakATable) {
  Report report;
  EXPECT_THROW(report.add({.setting = "a, b", .quantity = "q"}), std::invalid_argument);
  EXPECT_THROW(report.add({.setting = "a", .quantity = "x|y"}), std::invalid_argument);
}

TEST(Events, LimitsAreThoseOfAPoissonMean) {
  Events none;
  for (int i = 0; i < 10; ++i) none.add(0);
  const Limits limits = Measured(none).limits(0.95);
  EXPECT_EQ(limits.low, 0);
  EXPECT_NEAR(limits.high, 0.3689, 1e-4);  // -ln 0.025 of 10 trials
}

TEST(Mean, QuantilesAreValuesSeen) {
  Mean mean;
  for (const double value : {5.0, 1.0, 4.0, 2.0, 3.0}) mean.add(value);
  EXPECT_EQ(mean.quantile(0.5), 3);
  EXPECT_EQ(mean.quantile(0.01), 1);
  EXPECT_EQ(mean.quantile(1), 5);
  const Limits limits = Measured(mean).limits(0.95);
  EXPECT_NEAR(limits.high - 3, 1.9632, 1e-4);  // 2.7764 standard errors of sqrt(2.5 / 5)
}

}  // namespace
}  // namespace tally::experiments

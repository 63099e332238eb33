#include "report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace tally::experiments {
namespace {

/// A report of one row, without what is before the last columns: holds, paper, noticed.
std::string last_columns(Row row) {
  Report report;
  row.setting = "s";
  row.quantity = "q";
  report.add(std::move(row));
  std::ostringstream out;
  report.write(out);
  std::string text = out.str();
  text.pop_back();
  return text.substr(text.rfind(',', text.rfind(',', text.rfind(',') - 1) - 1) + 1);
}

std::string verdicts(Row row) {
  const std::string text = last_columns(std::move(row));
  return text.substr(0, text.rfind(','));
}

std::string noticed(Row row) {
  const std::string text = last_columns(std::move(row));
  return text.substr(text.rfind(',') + 1);
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

TEST(Report, StatesTheDifferenceThatWouldHaveBeenNoticed) {
  EXPECT_EQ(noticed({.predicted = 2, .measured = between(1.9, 2.1)}), "10%");
  EXPECT_EQ(noticed({.predicted = 2, .measured = between(0, 4)}), "3 times as much");
  EXPECT_EQ(noticed({.predicted = 0, .measured = between(0, 0.05)}), "0.05 instead of 0");
  EXPECT_EQ(noticed({.published = "2.0", .measured = between(1.9, 2.1)}), "10%");
  EXPECT_EQ(noticed({.claim = Claim::below, .predicted = 2, .measured = between(1, 1.5)}), "");
  EXPECT_EQ(noticed({.measured = between(1, 1.5)}), "");
  EXPECT_EQ(noticed({.published = "2", .predicted = 2}), "");
}

TEST(Report, WhatCannotHaveBeenNoticedIsUntested) {
  EXPECT_EQ(verdicts({.published = "0.0006", .predicted = 0.0005, .measured = between(0, 0.05)}),
            "untested,untested");
  EXPECT_EQ(verdicts({.published = "0.0006", .predicted = 0.0005, .measured = between(0, 0.0044)}),
            "yes,yes");
  EXPECT_EQ(verdicts({.predicted = 0.0005, .measured = between(0.001, 0.05)}), "no,");  // seen all the same
}

// gamma_p(x, mean) is the probability of at least x Poisson events.
TEST(Report, ADifferenceOfTheWidthOfTheLimitsIsNoticedFourTimesInFive) {
  const double confidence = theory::per_test_confidence(0.999, 20);
  const auto limits_of = [&](std::uint64_t num_events) {
    Events events;
    events.add(num_events);
    return Measured(events).limits(confidence);
  };
  for (double mean = 0.001; mean < 300; mean *= 1.1) {
    const Limits usual = limits_of(static_cast<std::uint64_t>(mean));
    const double other = mean + noticed_difference(usual, mean) * mean;
    std::uint64_t least_noticed = 0;
    while (limits_of(least_noticed).low <= mean) ++least_noticed;
    EXPECT_GT(boost::math::gamma_p(static_cast<double>(least_noticed), other), 0.8) << mean;
  }
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

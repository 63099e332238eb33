#include "tally/theory/kappa_star.hpp"

#include <cmath>
#include <limits>

#include "random.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

TEST(KappaStarTheory, EveryReferenceRowIsMetTo1e12) {
  const auto rows = test::read_csv("kappa_star.csv");
  ASSERT_EQ(rows.size(), 37u);
  for (const auto& row : rows) {
    const auto theta = static_cast<std::uint64_t>(row.at("theta"));
    TALLY_EXPECT_RELATIVE(kappa_star(theta), row.at("kappa_star"), 1e-12);
    TALLY_EXPECT_RELATIVE(ln_c(theta), row.at("ln_c"), 1e-12);
  }
}

// By 60-digit arithmetic, as the reference rows.
TEST(KappaStarTheory, GreatThresholdsAreMetTo1e14AndLieAboveKappa1) {
  struct Row {
    std::uint64_t theta;
    double kappa_star;
    double ln_c;
    double kappa_1;
  };
  for (const Row& row :
       {Row{10'000, 2033.60558266747081, -16201023.1870589056, 2033.3503310423595},
        Row{100'000, 20320.9070196946691, -1619156622.29782826, 20320.6519874651707},
        Row{1'000'000, 203190.383925543708, -161904103620.186202, 203190.128920822938},
        Row{1'000'000'000, 203187873.6761073, -161902561718902669.0, 203187873.42110632},
        Row{std::uint64_t{1} << 31, 436342632.080887495, -746643774858977158.0, 436342631.825886517},
        Row{std::uint64_t{1} << 32, 872685260.453470989, -2.98657508975869313e+18, 872685260.198470013}}) {
    TALLY_EXPECT_RELATIVE(kappa_star(row.theta), row.kappa_star, 1e-14);
    TALLY_EXPECT_RELATIVE(ln_c(row.theta), row.ln_c, 1e-14);
    TALLY_EXPECT_RELATIVE(kappa_1(row.theta), row.kappa_1, 1e-14);
    EXPECT_GT(kappa_star(row.theta), kappa_1(row.theta));  // Theorem 1
  }
}

TEST(KappaStarTheory, AtThresholdOneItIsLn2) {
  TALLY_EXPECT_RELATIVE(kappa_star(1), std::log(2.0), 1e-14);
  TALLY_EXPECT_RELATIVE(ln_c(1), -std::log(2.0) * std::log(2.0), 1e-14);
}

TEST(KappaStarTheory, TheLemmasOrderThePoints) {
  for (std::uint64_t theta = 1; theta <= 10000; theta = theta * 5 / 4 + 1) {
    const auto t = static_cast<double>(theta);
    const double low = kappa_1(theta);
    const double best = kappa_star(theta);
    const double high = kappa_2(theta);
    EXPECT_LT(0, low);
    EXPECT_LT(low, best);
    EXPECT_LT(low, (t + 1) / 2);
    EXPECT_GT(high, (t + 1) / 2);
    EXPECT_LT(best, high);
    EXPECT_LT(high, t + 1);
    EXPECT_NEAR(y1(theta, low), y2(theta, low), 1e-9 * t);
    EXPECT_NEAR(y1(theta, high), y2(theta, high), 1e-9 * t);
    EXPECT_GT(y1(theta, (t + 1) / 2), y2(theta, (t + 1) / 2));  // Lemma 2
    if (theta <= 50) {
      EXPECT_LT(g(theta, low), 0);
      EXPECT_GT(g(theta, high), 0);
      EXPECT_LT(g(theta, low), g(theta, low / 2));       // falls on (0, kappa_1)
      EXPECT_LT(g(theta, low), g(theta, best * 0.999));  // rises to kappa_2
      EXPECT_LT(g(theta, best * 1.001), g(theta, high));
      EXPECT_GT(g(theta, high), g(theta, high * 1.5));  // falls after it
    }
  }
}

struct SecondDifference {
  double value;
  double rounding;  // the error that the three values may have
};

template <class Function>
SecondDifference second_difference(Function function, double at, double step) {
  const double low = function(at - step);
  const double middle = function(at);
  const double high = function(at + step);
  return {low - 2 * middle + high, 1e-13 * (std::fabs(low) + 2 * std::fabs(middle) + std::fabs(high))};
}

// Theta to a million, kappa from theta / 32 to 2 theta + 8, steps of a half to a 64th of kappa; all on logarithmic scales.
TEST(KappaStarTheory, Lemma1AtRandomPointsY1RisesAndIsConcave) {
  tally::test::Random random(61);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random.next() >> 11) * 0x1p-53;
  };
  int num_decided = 0;
  constexpr int num_points = 20'000;
  for (int i = 0; i < num_points; ++i) {
    const auto theta = static_cast<std::uint64_t>(std::exp2(uniform(0, 20)));
    const auto t = static_cast<double>(theta);
    const double kappa = t / 32 * std::pow(64 + 256 / t, uniform(0, 1));
    const double step = kappa * std::exp2(-uniform(1, 6));
    const auto y = [&](double at) { return y1(theta, at); };
    const SecondDifference curve = second_difference(y, kappa, step);
    EXPECT_LE(curve.value, curve.rounding) << theta << " " << kappa << " " << step;
    num_decided += curve.value < -curve.rounding;
    EXPECT_LE(y(kappa), y(kappa + step)) << theta << " " << kappa << " " << step;
  }
  EXPECT_GT(num_decided, num_points * 9 / 10);  // where y1 is nearly 0 nothing can be seen
}

// P itself is convex below theta - 1: without the logarithm the test above would fail.
TEST(KappaStarTheory, WithoutTheLogarithmThereIsNoLemma1) {
  const auto p = [](double at) { return std::exp(y1(20, at)); };
  const SecondDifference curve = second_difference(p, 10, 2);
  EXPECT_GT(curve.value, 1e6 * curve.rounding);
}

TEST(KappaStarTheory, GIsItsDefinitionAndTurnsAtKappa1AndKappa2) {
  EXPECT_EQ(y2(5, 3.0), -3.0);
  for (const std::uint64_t theta : {1u, 2u, 5u, 20u, 50u}) {
    for (const double kappa : {kappa_1(theta), kappa_star(theta), static_cast<double>(theta)}) {
      const auto p = [&](double at) { return std::exp(y1(theta, at)); };
      const double h = 1e-5 * kappa;
      const double slope = (p(kappa + h) - p(kappa - h)) / (2 * h);
      const double scale = p(kappa) * std::fabs(y1(theta, kappa));
      EXPECT_NEAR(g(theta, kappa), p(kappa) * y1(theta, kappa) + kappa * slope, 1e-5 * scale) << theta;
    }
    for (const double factor : {0.99, 1.01}) {
      EXPECT_LT(g(theta, kappa_1(theta)), g(theta, kappa_1(theta) * factor)) << theta;
      EXPECT_GT(g(theta, kappa_2(theta)), g(theta, kappa_2(theta) * factor)) << theta;
    }
  }
}

TEST(KappaStarTheory, NothingNearbyIsBetter) {
  for (const std::uint64_t theta : {1u, 2u, 7u, 100u, 3000u}) {
    const double best = kappa_star(theta);
    const auto cost = [&](double kappa) { return kappa * y1(theta, kappa); };
    EXPECT_EQ(ln_c(theta), cost(best));
    EXPECT_LT(cost(best), cost(best * 0.999));
    EXPECT_LT(cost(best), cost(best * 1.001));
  }
}

TEST(KappaStarTheory, TheStraightLineIsWithinTwoPercentAbove30) {
  for (std::uint64_t theta = 31; theta <= 1000; ++theta) {
    TALLY_EXPECT_RELATIVE(kappa_star_line(theta), kappa_star(theta), 0.02);
  }
  for (const std::uint64_t theta : {1500u, 3000u, 10000u, 100000u}) {
    TALLY_EXPECT_RELATIVE(kappa_star_line(theta), kappa_star(theta), 0.02);
  }
  EXPECT_GT(test::relative_error(kappa_star_line(20), kappa_star(20)), 0.02);
}

TEST(KappaStarTheory, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(kappa_star(0), "theta");
  TALLY_EXPECT_REFUSED(kappa_star((std::uint64_t{1} << 32) + 1), "theta");
  TALLY_EXPECT_REFUSED(ln_c(0), "theta");
  TALLY_EXPECT_REFUSED(kappa_star_line(0), "theta");
  TALLY_EXPECT_REFUSED(kappa_1(0), "theta");
  TALLY_EXPECT_REFUSED(kappa_2(0), "theta");
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    TALLY_EXPECT_REFUSED(g(1, bad), "kappa");
    TALLY_EXPECT_REFUSED(y1(1, bad), "kappa");
    TALLY_EXPECT_REFUSED(y2(1, bad), "kappa");
  }
}

}  // namespace
}  // namespace tally::theory

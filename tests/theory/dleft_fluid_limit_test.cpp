#include "tally/theory/dleft_fluid_limit.hpp"

#include <algorithm>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "tally/theory/dleft_fingerprints.hpp"
#include "tally/theory/tails.hpp"
#include "theory_test_support.hpp"

namespace tally::theory {
namespace {

using State = std::vector<double>;

/// The equations as they are printed, factor by factor; x[(i - 1) d + j] is x_{j,i}.
State naive_flow(const State& x, std::uint32_t d, double deletions_at_load) {
  const std::size_t top = x.size() / d;
  const auto share = [&](std::uint32_t j, std::size_t i) {
    return i == 0 ? 1.0 : i > top ? 0.0 : x[(i - 1) * d + j];
  };
  State flow(x.size());
  for (std::size_t i = 1; i <= top; ++i) {
    for (std::uint32_t j = 0; j < d; ++j) {
      double rate = d * (share(j, i - 1) - share(j, i));
      for (std::uint32_t l = 0; l < d; ++l) rate *= l == j ? 1.0 : share(l, l < j ? i : i - 1);
      if (deletions_at_load > 0.0)
        rate -= static_cast<double>(i) * (share(j, i) - share(j, i + 1)) / deletions_at_load;
      flow[(i - 1) * d + j] = rate;
    }
  }
  return flow;
}

/// Another integrator over them, all loads from 1 to `top`.
State integrate_naively(std::uint32_t d, double average_load, double steps_per_element, std::size_t top) {
  namespace odeint = boost::numeric::odeint;
  State x(top * d, 0.0);
  const auto stepper = odeint::make_controlled(1e-60, 1e-11, odeint::runge_kutta_dopri5<State>());
  const auto run = [&](double deletions_at_load, double duration) {
    const auto system = [&](const State& at, State& dxdt, double) {
      dxdt = naive_flow(at, d, deletions_at_load);
    };
    odeint::integrate_adaptive(stepper, system, x, 0.0, duration, 1e-5);
  };
  run(0.0, average_load);
  if (steps_per_element > 0.0) run(average_load, steps_per_element * average_load);
  return x;
}

TEST(DLeftFluidLimit, EveryReferenceRowDownTo1e25IsMetTo1e6) {
  const auto rows = test::read_csv("dleft_fluid_limit.csv");
  ASSERT_EQ(rows.size(), 153u);
  std::map<std::tuple<std::uint32_t, double, double>, DLeftLoads> known;
  int checked = 0;
  for (const auto& row : rows) {
    const auto d = static_cast<std::uint32_t>(row.at("d"));
    const auto i = static_cast<std::uint64_t>(row.at("i"));
    for (const auto& [column, steps] : {std::pair{"insert_only", insert_only}, {"steady", steady_state}}) {
      if (!row.contains(column) || row.at(column) < 1e-25) continue;
      const double load = row.at("average_load");
      const auto [loads, is_new] = known.try_emplace({d, load, steps});
      if (is_new) loads->second = dleft_loads(d, load, steps);
      TALLY_EXPECT_RELATIVE(loads->second.fraction(i), row.at(column), 1e-6)
          << column << " d " << d << " i " << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 250);
}

TEST(DLeftFluidLimit, Table1OfThePaperIsTheSteadyStateAtLoad6AndAtTheDistinctLoad) {
  const DLeftLoads nominal = dleft_loads(4, 6.0, steady_state);
  const std::vector<double> printed{1.0, 0.9999, 0.9990, 0.9920, 0.9505, 0.7669, 0.2894, 0.0023};
  for (std::size_t i = 1; i <= printed.size(); ++i) EXPECT_NEAR(nominal.fraction(i), printed[i - 1], 5.1e-5);
  TALLY_EXPECT_RELATIVE(nominal.fraction(9), 1.681e-27, 2e-4);
  TALLY_EXPECT_RELATIVE(dleft_loads(4, 6.5, steady_state).fraction(9), 2.205e-8, 2e-4);

  // Its simulated column is lower: keys that share a fingerprint share a cell.
  const double load = dleft_distinct_load(4, 2048, 1 << 14, 49152);
  EXPECT_NEAR(load, 5.9956, 5e-5);
  const DLeftLoads distinct = dleft_loads(4, load, steady_state);
  const std::vector<double> simulated{1.0, 0.9999, 0.9990, 0.9920, 0.9502, 0.7655, 0.2868, 0.0022};
  for (std::size_t i = 1; i <= simulated.size(); ++i)
    EXPECT_NEAR(distinct.fraction(i), simulated[i - 1], 2.5e-4) << i;
  EXPECT_NEAR(distinct.fraction(5), 0.9501, 5e-5);
  EXPECT_NEAR(distinct.fraction(6), 0.7654, 1e-4);
  EXPECT_NEAR(distinct.fraction(7), 0.2870, 5e-5);
  EXPECT_NEAR(distinct.fraction(8), 0.00216, 5e-6);
  EXPECT_GT(nominal.fraction(7) - simulated[6], 0.002);  // the fluid column at 6 is visibly off
}

TEST(DLeftFluidLimit, OneSubtableIsThePoissonTail) {
  for (const double load : {0.3, 3.0, 24.0, 100.0}) {
    for (const double steps : {insert_only, 0.7, steady_state}) {
      const DLeftLoads loads = dleft_loads(1, load, steps);
      EXPECT_EQ(loads.average_load, load);
      std::uint64_t i = 1;
      for (; ln_poisson_upper_tail(i, load) > std::log(1e-100); ++i)
        TALLY_EXPECT_RELATIVE(loads.fraction(i), std::exp(ln_poisson_upper_tail(i, load)), 1e-9) << i;
      EXPECT_EQ(loads.fraction(i), 0.0);
    }
  }
}

TEST(DLeftFluidLimit, EverySubtableIsMetByAnotherIntegratorOfThePrintedEquations) {
  struct Case {
    std::uint32_t d;
    double load;
    double steps;
  };
  for (const auto& [d, load, steps] :
       {Case{2, 3.3, 0}, {4, 2.5, 0}, {8, 1.25, 0}, {2, 2.6, 0.5}, {3, 4.3, 2}}) {
    const std::size_t top = 16;
    const State x = integrate_naively(d, load, steps, top);
    const DLeftLoads loads = dleft_loads(d, load, steps);
    for (std::size_t i = 1; i <= top; ++i) {
      for (std::uint32_t j = 0; j < d; ++j) {
        const double truth = x[(i - 1) * d + j];
        if (truth < 1e-50) continue;
        TALLY_EXPECT_RELATIVE(loads.fraction(j, i), truth, 1e-8) << d << " " << j << " " << i;
      }
    }
  }
}

TEST(DLeftFluidLimit, TheSteadyStateIsWhereALongIntegrationEnds) {
  for (const std::uint32_t d : {1u, 2u, 3u, 4u, 8u}) {
    for (const double load : {0.5, 2.3, 6.5, 17.3}) {
      const DLeftLoads steady = dleft_loads(d, load, steady_state);
      const DLeftLoads integrated = dleft_loads(d, load, 40.0);
      for (std::uint32_t j = 0; j < d; ++j) {
        for (std::uint64_t i = 1; steady.fraction(j, i) > 1e-99; ++i)
          TALLY_EXPECT_RELATIVE(integrated.fraction(j, i), steady.fraction(j, i), 1e-9) << d << " " << i;
      }
    }
  }
}

TEST(DLeftFluidLimit, TheSteadyStateBalancesInAndOutAtEveryLoad) {
  const std::uint32_t d = 3;
  const double load = 12.7;
  const DLeftLoads loads = dleft_loads(d, load, steady_state);
  for (std::uint64_t i = 1; loads.fraction(0, i) > 1e-90; ++i) {
    for (std::uint32_t j = 0; j < d; ++j) {
      double in = d * (loads.fraction(j, i - 1) - loads.fraction(j, i));
      for (std::uint32_t l = 0; l < d; ++l) in *= l == j ? 1.0 : loads.fraction(l, l < j ? i : i - 1);
      const double out = static_cast<double>(i) * (loads.fraction(j, i) - loads.fraction(j, i + 1)) / load;
      EXPECT_NEAR(in, out, 1e-9 * out + 1e-15) << i;
    }
  }
}

TEST(DLeftFluidLimit, EveryLoadFrom0To256IsSolved) {
  for (std::uint32_t d = 1; d <= 8; ++d) {
    for (double load = 1e-9; load <= 256.0; load = load < 1.0 ? load * 2.7 : load * 1.13) {
      const DLeftLoads loads = dleft_loads(d, load, steady_state);
      double mean = 0.0;
      for (std::uint64_t i = 1; i <= 1500; ++i) mean += loads.fraction(i);
      TALLY_EXPECT_RELATIVE(mean, load, 1e-11) << d;
    }
  }
  const DLeftLoads empty = dleft_loads(3, 0.0, steady_state);
  EXPECT_EQ(empty.fraction(0), 1.0);
  EXPECT_EQ(empty.fraction(1), 0.0);
  EXPECT_EQ(dleft_loads(3, 0.0, 2.0).fraction(1), 0.0);
  EXPECT_EQ(dleft_loads(3, 0.0, insert_only).subtables.size(), 3u);
}

TEST(DLeftFluidLimit, FractionsFallWithTheLoadAndToTheRightAndAddUpToTheAverage) {
  for (const double steps : {insert_only, 0.5, 3.0, steady_state}) {
    for (const double load : {0.01, 5.875, 40.0}) {
      const DLeftLoads loads = dleft_loads(4, load, steps);
      double mean = 0.0;
      EXPECT_EQ(loads.fraction(3, 0), 1.0);
      for (std::uint64_t i = 1; i <= 60; ++i) {
        mean += loads.fraction(i);
        for (std::uint32_t j = 0; j < 4; ++j) {
          EXPECT_LE(loads.fraction(j, i), loads.fraction(j, i - 1));
          EXPECT_LE(loads.fraction(j, i), loads.fraction(j > 0 ? j - 1 : 0, i) + 1e-12);
        }
      }
      TALLY_EXPECT_RELATIVE(mean, load, 1e-11);
    }
  }
}

TEST(DLeftFluidLimit, ChurnLeadsFromTheInsertedTableToTheSteadyOne) {
  double last = dleft_loads(4, 6.5, insert_only).fraction(9);
  for (const double steps : {1e-3, 0.1, 1.0, 3.0}) {
    const double now = dleft_loads(4, 6.5, steps).fraction(9);
    EXPECT_GT(now, last);
    last = now;
  }
  EXPECT_LT(last, dleft_loads(4, 6.5, steady_state).fraction(9));
  TALLY_EXPECT_RELATIVE(dleft_loads(4, 6.5, 1e-9).fraction(7), dleft_loads(4, 6.5, insert_only).fraction(7),
                        1e-7);
}

/// d subtables of B buckets by the rule itself, choices independent.
std::vector<std::vector<std::uint32_t>> simulated_buckets(std::uint32_t d, std::uint32_t B, std::uint64_t n,
                                                          std::uint64_t steps) {
  std::mt19937_64 random(20060911);
  std::vector<std::vector<std::uint32_t>> load(d, std::vector<std::uint32_t>(B, 0));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> elements(n);
  const auto insert = [&](std::uint64_t element) {
    std::pair<std::uint32_t, std::uint32_t> best{0, static_cast<std::uint32_t>(random() % B)};
    for (std::uint32_t j = 1; j < d; ++j) {
      const auto bucket = static_cast<std::uint32_t>(random() % B);
      if (load[j][bucket] < load[best.first][best.second]) best = {j, bucket};
    }
    ++load[best.first][best.second];
    elements[element] = best;
  };
  for (std::uint64_t i = 0; i < n; ++i) insert(i);
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::uint64_t victim = random() % n;
    --load[elements[victim].first][elements[victim].second];
    insert(victim);
  }
  return load;
}

TEST(DLeftFluidLimit, ASimulatedTableIsNearItInEverySubtable) {
  const std::uint32_t d = 3;
  const std::uint32_t B = 1 << 16;
  const std::uint64_t n = d * B * 5 / 2;
  for (const std::uint64_t steps : {std::uint64_t{0}, n / 2}) {
    const auto buckets = simulated_buckets(d, B, n, steps);
    const DLeftLoads loads = dleft_loads(d, 2.5, static_cast<double>(steps) / static_cast<double>(n));
    for (std::uint32_t j = 0; j < d; ++j) {
      for (std::uint32_t i = 1; i <= 5; ++i) {
        const auto seen = std::count_if(buckets[j].begin(), buckets[j].end(), [&](auto x) { return x >= i; });
        // Five standard deviations of independent buckets; those of a table vary less. 30 checks.
        EXPECT_NEAR(static_cast<double>(seen) / B, loads.fraction(j, i), 5 * 0.5 / std::sqrt(B))
            << j << " " << i;
      }
    }
  }
}

TEST(DLeftFluidLimit, BadParametersAreRefusedByName) {
  TALLY_EXPECT_REFUSED(dleft_loads(0, 1.0, insert_only), "d");
  TALLY_EXPECT_REFUSED(dleft_loads(9, 1.0, insert_only), "d");
  for (const double bad : {-1.0, 256.5, std::nan(""), std::numeric_limits<double>::infinity()})
    TALLY_EXPECT_REFUSED(dleft_loads(2, bad, steady_state), "average_load");
  for (const double bad : {-1e-9, std::nan("")})
    TALLY_EXPECT_REFUSED(dleft_loads(2, 1.0, bad), "steps_per_element");
}

}  // namespace
}  // namespace tally::theory

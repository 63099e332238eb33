#pragma once

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "computed.hpp"
#include "report.hpp"

namespace tally::experiments {

/// Pearson's statistic of how often each value was seen.
struct ChiSquare {
  double statistic = 0;
  int degrees_of_freedom = 0;
  std::uint64_t num_trials = 0;

  /// What the statistic passes with this chance, if the law is true.
  double critical_value(double chance) const {
    const boost::math::chi_squared law(std::max(degrees_of_freedom, 1));
    return boost::math::quantile(complement(law, chance));
  }

  /// The difference of the true shares from the law's, as a root mean square of the relative differences weighted by the
  /// law, at which the statistic passes that value with 99.9%.
  double noticed_difference(double chance) const {
    const double non_centrality = boost::math::non_central_chi_squared::find_non_centrality(
        std::max(degrees_of_freedom, 1), critical_value(chance), 0.001);
    return std::sqrt(non_centrality / static_cast<double>(num_trials));
  }
};

/// Values are put together, from the first on, until 10 trials are expected of them. Shares sum to 1.
inline ChiSquare chi_square(const std::vector<std::uint64_t>& seen, const std::vector<double>& shares) {
  ChiSquare result;
  for (const std::uint64_t each : seen) result.num_trials += each;
  struct Cell {
    double expected = 0;
    double observed = 0;
  };
  std::vector<Cell> cells(1);
  for (std::size_t value = 0; value < shares.size(); ++value) {
    if (cells.back().expected >= 10) cells.emplace_back();
    cells.back().expected += static_cast<double>(result.num_trials) * shares[value];
    cells.back().observed += value < seen.size() ? static_cast<double>(seen[value]) : 0;
  }
  if (cells.size() > 1 && cells.back().expected < 10) {
    const Cell rest = cells.back();
    cells.pop_back();
    cells.back().expected += rest.expected;
    cells.back().observed += rest.observed;
  }
  for (const Cell& cell : cells)
    result.statistic += (cell.observed - cell.expected) * (cell.observed - cell.expected) / cell.expected;
  result.degrees_of_freedom = static_cast<int>(cells.size()) - 1;
  return result;
}

/// A row that claims the statistic to be below (or above) what it passes with this chance. A report cannot share its
/// own confidence with it.
inline Row chi_square_row(std::string setting, const std::string& quantity, const ChiSquare& test,
                          Claim claim, double chance) {
  return {.setting = std::move(setting),
          .quantity = quantity + "; " + std::to_string(test.degrees_of_freedom) + " degrees of freedom",
          .claim = claim,
          .predicted = test.critical_value(chance),
          .measured = computed(test.statistic, test.num_trials),
          .noticed = test.noticed_difference(chance)};
}

}  // namespace tally::experiments

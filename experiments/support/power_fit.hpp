#pragma once

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "measured.hpp"

namespace tally::experiments {

/// What is left of y after a least-squares fit of y = constant + slope x, at the same places.
inline std::vector<double> residuals(const std::vector<double>& x, std::vector<double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double slope = xx == 0 ? 0 : xy / xx;
  for (std::size_t i = 0; i < x.size(); ++i) y[i] -= mean_y + slope * (x[i] - mean_x);
  return y;
}

/// The power s in y = C x^-s, or y = C x^-s (1 + b/x) if `is_curved`, by least squares of ln y over ln x (and 1/x); limits
/// by Student's law. At least three points (four), all of y above 0.
inline Measured fitted_power(const std::vector<double>& x, const std::vector<double>& y, bool is_curved) {
  std::vector<double> other, minus_ln_x, ln_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    other.push_back(is_curved ? 1 / x[i] : 0);
    minus_ln_x.push_back(-std::log(x[i]));
    ln_y.push_back(std::log(y[i]));
  }
  // Both without what the constant and 1/x explain: then the slope is that of the fit of all of them.
  minus_ln_x = residuals(other, minus_ln_x);
  ln_y = residuals(other, ln_y);
  double xx = 0, xy = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += minus_ln_x[i] * minus_ln_x[i];
    xy += minus_ln_x[i] * ln_y[i];
  }
  const double power = xy / xx;
  for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(ln_y[i] - power * minus_ln_x[i], 2);
  const auto degrees_of_freedom = static_cast<double>(x.size()) - (is_curved ? 3 : 2);
  const double error = std::sqrt(squares / degrees_of_freedom / xx);
  return {power, x.size(), [=](double confidence) -> Limits {
            const boost::math::students_t law(degrees_of_freedom);
            const double width = error * boost::math::quantile(complement(law, (1 - confidence) / 2));
            return {power - width, power + width};
          }};
}

}  // namespace tally::experiments

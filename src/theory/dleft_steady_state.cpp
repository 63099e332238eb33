#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory::detail {
namespace {

using Columns = std::vector<std::vector<double>>;  // [subtable][load]

/// The steady state is a fixed point. A bucket of subtable j goes from load i - 1 to i at the rate d a A_i,
/// where A_i is the product in the insertion term, and back at the rate i. With the other subtables fixed,
/// its point probabilities follow one by one, and x_{j,i} by summing them from above. Everything is in
/// logarithms.
class FixedPoint {
 public:
  FixedPoint(std::uint32_t d, double average_load)
      : d_(d),
        average_load_(average_load),
        middle_(static_cast<std::size_t>(average_load)),
        size_(largest_dleft_load(d, average_load) + 1) {
    // Any start works; this one has all buckets at the average.
    std::vector<double> column;
    for (std::size_t i = 0; i < size_; ++i)
      column.push_back(std::min(0.0, 5.0 * (average_load - static_cast<double>(i))));
    ln_x_.assign(d, column);
    ln_point_ = ln_x_;
  }

  /// One round over the subtables; returns the greatest relative change.
  double improve() {
    const Columns old = ln_x_;
    for (std::uint32_t j = 0; j < d_; ++j) settle(j);
    correct_mean();
    double change = 0.0;
    for (std::uint32_t j = 0; j < d_; ++j) {
      for (std::size_t i = 1; i < size_; ++i) {
        const double value = ln_x_[j][i];
        if (value > ln_least) change = std::max(change, std::fabs(value - old[j][i]) / (1.0 - value));
      }
    }
    return change;
  }

  [[nodiscard]] DLeftRows rows() const {
    DLeftRows rows{average_load_, 1, 0, {}};
    for (std::size_t i = 1; i < size_; ++i) {
      for (std::uint32_t j = 0; j < d_; ++j) rows.y.push_back(std::exp(ln_x_[j][i]));
    }
    return rows;
  }

 private:
  static constexpr double ln_least = -276.0;  // 1e-120: what is below changes nothing that is returned

  /// The points are relative to that at the average, where the sums lose nothing to rounding.
  void settle(std::uint32_t j) {
    std::vector<double>& point = ln_point_[j];
    point[middle_] = 0.0;
    for (std::size_t i = middle_ + 1; i < size_; ++i) point[i] = point[i - 1] + ln_ratio(j, i);
    for (std::size_t i = middle_; i > 0; --i) point[i - 1] = point[i] - ln_ratio(j, i);
    sum_points(j);
  }

  /// ln of Pr(load i) / Pr(load i - 1).
  [[nodiscard]] double ln_ratio(std::uint32_t j, std::size_t i) const {
    double ln_rate = std::log(d_ * average_load_ / static_cast<double>(i));
    for (std::uint32_t l = 0; l < d_; ++l) {
      if (l != j) ln_rate += l < j ? ln_x_[l][i] : ln_x_[l][i - 1];
    }
    return ln_rate;
  }

  void sum_points(std::uint32_t j) {
    std::vector<double> ln_sum = ln_point_[j];
    for (std::size_t i = size_ - 1; i > 0; --i) ln_sum[i - 1] = ln_add(ln_sum[i - 1], ln_sum[i]);
    for (std::size_t i = 1; i < size_; ++i) ln_x_[j][i] = ln_sum[i] - ln_sum[0];
  }

  /// By itself, the mean load would converge much more slowly than the rest, and it is known: weights
  /// exp(tilt i) on the points move it there, in one Newton step. In the end the tilt is 0.
  void correct_mean() {
    double excess = 0.0;
    double variance = 0.0;
    for (const std::vector<double>& column : ln_x_) {
      double mean = 0.0;
      for (std::size_t i = 1; i < size_; ++i) mean += std::exp(column[i]);
      for (std::size_t i = 0; i < size_; ++i) {
        const double above = i + 1 < size_ ? std::exp(column[i + 1]) : 0.0;
        const double deviation = static_cast<double>(i) - mean;
        variance += (std::exp(column[i]) - above) * deviation * deviation;
      }
      excess += mean - average_load_;
    }
    if (!(variance > 0.0)) return;
    const double tilt = std::clamp(-excess / variance, -0.5, 0.5);
    for (std::uint32_t j = 0; j < d_; ++j) {
      for (std::size_t i = 0; i < size_; ++i)
        ln_point_[j][i] += tilt * (static_cast<double>(i) - static_cast<double>(middle_));
      sum_points(j);
    }
  }

  std::uint32_t d_;
  double average_load_;
  std::size_t middle_;
  std::size_t size_;
  Columns ln_x_;
  Columns ln_point_;
};

}  // namespace

DLeftRows dleft_steady_state(std::uint32_t d, double average_load) {
  if (average_load == 0.0) return {};
  FixedPoint point(d, average_load);
  constexpr int max_rounds = 10000;  // 20 to 50 are usual
  int rounds = 0;
  while (point.improve() > 1e-12) {
    if (++rounds == max_rounds) throw std::runtime_error("dleft_loads: the steady state was not found");
  }
  return point.rows();
}

}  // namespace tally::theory::detail

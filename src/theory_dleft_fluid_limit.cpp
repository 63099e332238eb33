#include "tally/theory/dleft_fluid_limit.hpp"

#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <stdexcept>

#include "tally/theory/tails.hpp"
#include "theory_dleft_trajectory.hpp"
#include "theory_internal.hpp"

namespace tally::theory {
namespace {

namespace odeint = boost::numeric::odeint;
using internal::DLeftRows;

constexpr std::uint32_t kMaxSubtables = 8;
constexpr double kMaxLoad = 256.0;
constexpr double kLeastFraction = 1e-100;      // below it a result is 0
constexpr double kAbsoluteTolerance = 1e-120;  // far below, so that the least results are accurate, too
constexpr double kRelativeTolerance = 1e-10;   // of one step
constexpr double kCheckpointsPerElement = 4.0;
constexpr double kSteadyAfter = 64.0;  // steps per element; each forgets the beginning by a factor e

/// The largest load that a share of kAbsoluteTolerance of the buckets has.
std::size_t largest_load(std::uint32_t d, double average_load) {
  constexpr std::array<std::size_t, 3> beyond_average{10, 5, 4};  // for 2, 3 and more subtables
  if (d > 1) return static_cast<std::size_t>(std::ceil(average_load)) + beyond_average[std::min(d, 4u) - 2];
  auto i = static_cast<std::size_t>(std::ceil(average_load)) + 1;
  while (ln_poisson_upper_tail(i, average_load) > std::log(kAbsoluteTolerance)) i += 1 + i / 16;
  return i;
}

/// The right hand side of the equations; deletions only for an average_load above 0.
struct Flow {
  std::uint32_t d;
  std::size_t first_load;
  std::size_t num_mostly_full;
  double average_load;

  void operator()(const std::vector<double>& y, std::vector<double>& dydt, double /*t*/) const {
    std::array<double, kMaxSubtables> below;  // x_{j,i-1}
    std::array<double, kMaxSubtables> empty;  // 1 - x_{j,i-1}, of use in the mostly full rows
    std::array<double, kMaxSubtables> right;  // products over the subtables to the right
    below.fill(1.0);
    empty.fill(0.0);
    right[d - 1] = d;
    for (std::size_t row = 0; row < y.size(); row += d) {
      const bool mostly_full = row < num_mostly_full;
      for (std::uint32_t j = d - 1; j > 0; --j) right[j - 1] = right[j] * below[j];
      double left = 1.0;
      for (std::uint32_t j = 0; j < d; ++j) {
        const double value = y[row + j];
        const double x = mostly_full ? 1.0 - value : value;
        const double rate = left * right[j];
        dydt[row + j] = mostly_full ? (empty[j] - value) * rate : (below[j] - x) * rate;
        left *= x;
        below[j] = x;
        empty[j] = value;
      }
    }
    if (average_load > 0.0) delete_elements(y, dydt);
  }

  /// For rows none of which is mostly full.
  void delete_elements(const std::vector<double>& x, std::vector<double>& dxdt) const {
    for (std::size_t at = 0; at < x.size(); ++at) {
      const double above = at + d < x.size() ? x[at + d] : 0.0;
      dxdt[at] -= static_cast<double>(first_load + at / d) * (x[at] - above) / average_load;
    }
  }
};

void integrate(const Flow& flow, std::vector<double>& y, double duration) {
  if (!(duration > 0.0)) return;
  auto stepper = odeint::make_controlled(kAbsoluteTolerance, kRelativeTolerance,
                                         odeint::runge_kutta_fehlberg78<std::vector<double>>());
  odeint::integrate_adaptive(stepper, flow, y, 0.0, duration, std::min(duration, 1e-4));
}

void insert(std::uint32_t d, DLeftRows& rows, double average_load) {
  rows.y.resize((largest_load(d, average_load) - rows.first_load + 1) * d, 0.0);
  integrate({d, rows.first_load, rows.num_mostly_full, 0.0}, rows.y, average_load - rows.average_load);
  rows.average_load = average_load;
}

/// Writes rows as 1 - x from where all x are above 1/2 on, and drops them where 1 - x no longer matters.
void move_window(std::uint32_t d, DLeftRows& rows) {
  std::size_t& full = rows.num_mostly_full;
  const auto end_of_row = [&] { return rows.y.begin() + static_cast<std::ptrdiff_t>(full + d); };
  while (full + d <= rows.y.size() &&
         std::all_of(end_of_row() - d, end_of_row(), [](double x) { return x > 0.5; })) {
    for (std::uint32_t j = 0; j < d; ++j, ++full) rows.y[full] = 1.0 - rows.y[full];
  }
  std::size_t dropped = 0;
  while (dropped < full && rows.y[dropped] < 1e-20) ++dropped;
  dropped -= dropped % d;
  rows.y.erase(rows.y.begin(), rows.y.begin() + static_cast<std::ptrdiff_t>(dropped));
  rows.first_load += dropped / d;
  full -= dropped;
}

/// x_{j,i} from the first load on, row by row.
std::vector<double> plain(const DLeftRows& rows) {
  std::vector<double> x = rows.y;
  for (std::size_t at = 0; at < rows.num_mostly_full; ++at) x[at] = 1.0 - x[at];
  return x;
}

DLeftLoads loads_of(std::uint32_t d, const DLeftRows& rows) {
  DLeftLoads loads;
  loads.average_load = rows.average_load;
  const std::vector<double> x = plain(rows);
  for (std::uint32_t j = 0; j < d; ++j) {
    std::vector<double>& fractions = loads.subtables.emplace_back(rows.first_load, 1.0);
    for (std::size_t at = j; at < x.size() && x[at] >= kLeastFraction; at += d)
      fractions.push_back(std::min(1.0, x[at]));
  }
  return loads;
}

/// One subtable in equilibrium with the others: load i - 1 -> i at the rate d a A_i, A_i the product in the
/// insertion term, and i -> i - 1 at the rate i. The point probabilities follow one by one and
/// their sums from above, all in logarithms. Returns the greatest relative change.
double settle(std::vector<std::vector<double>>& ln_x, std::uint32_t j, double average_load) {
  const auto d = static_cast<std::uint32_t>(ln_x.size());
  std::vector<double> ln_sum(ln_x[j].size(), 0.0);
  for (std::size_t i = 1; i < ln_sum.size(); ++i) {
    double ln_rate = std::log(d * average_load / static_cast<double>(i));
    for (std::uint32_t l = 0; l < d; ++l) {
      if (l != j) ln_rate += l < j ? ln_x[l][i] : ln_x[l][i - 1];
    }
    ln_sum[i] = ln_sum[i - 1] + ln_rate;
  }
  for (std::size_t i = ln_sum.size() - 1; i > 0; --i)
    ln_sum[i - 1] = internal::ln_add(ln_sum[i - 1], ln_sum[i]);
  double change = 0.0;
  for (std::size_t i = 1; i < ln_sum.size(); ++i) {
    const double value = ln_sum[i] - ln_sum[0];
    const double old = std::exchange(ln_x[j][i], value);
    if (value > std::log(kAbsoluteTolerance))
      change = std::max(change, std::fabs(value - old) / (1.0 - value));
  }
  return change;
}

}  // namespace

namespace internal {

void require_num_subtables(const char* function, std::uint32_t d) {
  require(d >= 1 && d <= kMaxSubtables, function, "d", d, "1 to 8");
}

void require_average_load(const char* function, double average_load) {
  require(average_load >= 0.0 && average_load <= kMaxLoad, function, "average_load", average_load,
          "0 to 256");
}

void require_num_cells(const char* function, std::uint32_t c) {
  require(c >= 1 && c <= 1024, function, "c", c, "1 to 1024");
}

DLeftFilling::DLeftFilling(std::uint32_t d) : d_(d), checkpoints_(1) {}

DLeftRows DLeftFilling::rows_at(double average_load) {
  const auto at = static_cast<std::size_t>(average_load * kCheckpointsPerElement);
  while (checkpoints_.size() <= at) {
    DLeftRows next = checkpoints_.back();
    insert(d_, next, static_cast<double>(checkpoints_.size()) / kCheckpointsPerElement);
    move_window(d_, next);
    checkpoints_.push_back(std::move(next));
  }
  DLeftRows rows = checkpoints_[at];
  insert(d_, rows, average_load);
  return rows;
}

DLeftLoads DLeftFilling::loads_at(double average_load) { return loads_of(d_, rows_at(average_load)); }

DLeftLoads dleft_steady_state(std::uint32_t d, double average_load) {
  if (average_load == 0.0) return loads_of(d, {});
  // Any start will do; this one has all buckets at the average.
  std::vector<std::vector<double>> ln_x(d);
  for (std::vector<double>& column : ln_x) {
    for (std::size_t i = 0; i <= largest_load(d, average_load); ++i)
      column.push_back(std::min(0.0, 5.0 * (average_load - static_cast<double>(i))));
  }
  constexpr int max_rounds = 100000;
  double change = 1.0;
  for (int round = 0; change > 1e-14; ++round) {
    if (round == max_rounds) throw std::runtime_error("dleft_loads: the steady state was not found");
    change = 0.0;
    for (std::uint32_t j = 0; j < d; ++j) change = std::max(change, settle(ln_x, j, average_load));
  }
  DLeftRows rows{average_load, 1, 0, {}};
  for (std::size_t i = 1; i < ln_x[0].size(); ++i) {
    for (std::uint32_t j = 0; j < d; ++j) rows.y.push_back(std::exp(ln_x[j][i]));
  }
  return loads_of(d, rows);
}

}  // namespace internal

double DLeftLoads::fraction(std::uint32_t j, std::uint64_t i) const {
  const std::vector<double>& fractions = subtables.at(j);
  return i < fractions.size() ? fractions[i] : 0.0;
}

double DLeftLoads::fraction(std::uint64_t i) const {
  double sum = 0.0;
  for (std::uint32_t j = 0; j < subtables.size(); ++j) sum += fraction(j, i);
  return sum / static_cast<double>(subtables.size());
}

DLeftLoads dleft_loads(std::uint32_t d, double average_load, double steps_per_element) {
  constexpr const char* function = "dleft_loads";
  internal::require_num_subtables(function, d);
  internal::require_average_load(function, average_load);
  internal::require(steps_per_element >= 0.0, function, "steps_per_element", steps_per_element, "at least 0");
  if (steps_per_element >= kSteadyAfter) return internal::dleft_steady_state(d, average_load);
  DLeftRows rows = internal::DLeftFilling(d).rows_at(average_load);
  if (steps_per_element > 0.0 && average_load > 0.0) {
    rows.y = plain(rows);
    rows.y.insert(rows.y.begin(), (rows.first_load - 1) * d, 1.0);
    rows.num_mostly_full = 0;
    rows.first_load = 1;
    integrate({d, 1, 0, average_load}, rows.y, steps_per_element * average_load);
  }
  return loads_of(d, rows);
}

}  // namespace tally::theory

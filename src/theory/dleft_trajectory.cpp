#include "theory/dleft_trajectory.hpp"

#include <algorithm>
#include <array>
#include <boost/numeric/odeint/integrate/integrate_adaptive.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>
#include <cmath>

#include "tally/theory/tails.hpp"
#include "theory/detail.hpp"

namespace tally::theory::detail {
namespace {

namespace odeint = boost::numeric::odeint;
using Values = std::vector<double>;

constexpr double least_fraction = 1e-100;      // below it a result is 0
constexpr double absolute_tolerance = 1e-120;  // far below, so that the least results are accurate, too
constexpr double relative_tolerance = 1e-10;   // of one step
constexpr double checkpoints_per_element = 4.0;

/// dx_{j,i}/dt = d (x_{j,i-1} - x_{j,i}) prod_{l<j} x_{l,i} prod_{l>j} x_{l,i-1}.
struct Insertions {
  std::uint32_t d;
  std::size_t num_mostly_full;
  std::size_t num_values;

  void operator()(const Values& y, Values& dydt, double /*t*/) const {
    std::array<double, max_subtables> below;  // x_{j,i-1}
    std::array<double, max_subtables> room;   // 1 - x_{j,i-1}, read in the mostly full rows
    std::array<double, max_subtables> right;  // d times the product over the subtables to the right
    below.fill(1.0);
    room.fill(0.0);
    right[d - 1] = d;
    for (std::size_t row = 0; row < num_values; row += d) {
      const bool mostly_full = row < num_mostly_full;
      for (std::uint32_t j = d - 1; j > 0; --j) right[j - 1] = right[j] * below[j];
      double left = 1.0;
      for (std::uint32_t j = 0; j < d; ++j) {
        const double value = y[row + j];
        const double x = mostly_full ? 1.0 - value : value;
        const double rate = left * right[j];
        dydt[row + j] = mostly_full ? (room[j] - value) * rate : (below[j] - x) * rate;
        left *= x;
        below[j] = x;
        room[j] = value;
      }
    }
  }
};

/// Insertions, each after a deletion: -i (x_{j,i} - x_{j,i+1}) / average_load. Rows from load 1 on, none of
/// them mostly full, and one more value at the end, the integral of prod_j x_{j,c}.
struct Replacements {
  Insertions insertions;
  double average_load;
  std::size_t c;

  void operator()(const Values& x, Values& dxdt, double t) const {
    insertions(x, dxdt, t);
    const std::size_t d = insertions.d;
    const std::size_t end = insertions.num_values;
    for (std::size_t at = 0; at < end; ++at) {
      const double above = at + d < end ? x[at + d] : 0.0;
      dxdt[at] -= static_cast<double>(1 + at / d) * (x[at] - above) / average_load;
    }
    dxdt[end] = c * d <= end ? 1.0 : 0.0;
    for (std::size_t at = (c - 1) * d; at < std::min(c * d, end); ++at) dxdt[end] *= x[at];
  }
};

template <class System>
void integrate(const System& system, Values& y, double duration) {
  if (!(duration > 0.0)) return;
  // Not make_controlled: without the right headers it takes the tolerances for other parameters, silently.
  using Stepper = odeint::controlled_runge_kutta<odeint::runge_kutta_fehlberg78<Values>>;
  Stepper stepper(Stepper::error_checker_type(absolute_tolerance, relative_tolerance));
  odeint::integrate_adaptive(stepper, system, y, 0.0, duration, std::min(duration, 1e-4));
}

void insert(std::uint32_t d, DLeftRows& rows, double average_load) {
  rows.y.resize((largest_dleft_load(d, average_load) - rows.first_load + 1) * d, 0.0);
  integrate(Insertions{d, rows.num_mostly_full, rows.y.size()}, rows.y, average_load - rows.average_load);
  rows.average_load = average_load;
}

/// Writes rows as 1 - x from where all x are above 1/2 on, and drops them where 1 - x no longer matters.
void move_window(std::uint32_t d, DLeftRows& rows) {
  const auto at = [&](std::size_t i) { return rows.y.begin() + static_cast<std::ptrdiff_t>(i); };
  std::size_t& full = rows.num_mostly_full;
  while (full < rows.y.size() && *std::min_element(at(full), at(full + d)) > 0.5) {
    for (std::uint32_t j = 0; j < d; ++j, ++full) rows.y[full] = 1.0 - rows.y[full];
  }
  std::size_t dropped = 0;
  while (dropped < full && *std::max_element(at(dropped), at(dropped + d)) < 1e-20) dropped += d;
  rows.y.erase(at(0), at(dropped));
  rows.first_load += dropped / d;
  full -= dropped;
}

/// x_{j,i} from rows.first_load on.
Values plain(const DLeftRows& rows) {
  Values x = rows.y;
  for (std::size_t at = 0; at < rows.num_mostly_full; ++at) x[at] = 1.0 - x[at];
  return x;
}

}  // namespace

void require_num_subtables(const char* function, std::uint32_t d) {
  require(d >= 1 && d <= max_subtables, function, "d", d, "1 to 8");
}

void require_average_load(const char* function, double average_load) {
  require(average_load >= 0.0 && average_load <= 256.0, function, "average_load", average_load, "0 to 256");
}

void require_num_cells(const char* function, std::uint32_t c) {
  require(c >= 1 && c <= 255, function, "c", c, "1 to 255");
}

std::size_t largest_dleft_load(std::uint32_t d, double average_load) {
  constexpr std::array<std::size_t, 3> beyond_average{10, 5, 4};  // for 2, 3 and more subtables
  const auto whole = static_cast<std::size_t>(std::ceil(average_load));
  if (d > 1) return whole + beyond_average[std::min(d, 4u) - 2];
  std::size_t i = whole + 1;
  while (ln_poisson_upper_tail(i, average_load) > std::log(absolute_tolerance)) i += 1 + i / 16;
  return i;
}

DLeftFilling::DLeftFilling(std::uint32_t d) : d_(d), checkpoints_(1) {}

DLeftRows DLeftFilling::rows_at(double average_load) {
  const auto at = static_cast<std::size_t>(average_load * checkpoints_per_element);
  while (checkpoints_.size() <= at) {
    DLeftRows next = checkpoints_.back();
    insert(d_, next, static_cast<double>(checkpoints_.size()) / checkpoints_per_element);
    move_window(d_, next);
    checkpoints_.push_back(std::move(next));
  }
  DLeftRows rows = checkpoints_[at];
  insert(d_, rows, average_load);
  return rows;
}

DLeftLoads DLeftFilling::loads_at(double average_load) { return dleft_loads_of(d_, rows_at(average_load)); }

double dleft_replace(std::uint32_t d, DLeftRows& rows, double steps_per_element, std::uint32_t c) {
  if (rows.average_load == 0.0) return 0.0;
  Values x = plain(rows);
  x.insert(x.begin(), (rows.first_load - 1) * d, 1.0);
  const std::size_t num_values = x.size();
  x.push_back(0.0);
  integrate(Replacements{{d, 0, num_values}, rows.average_load, c}, x, steps_per_element * rows.average_load);
  const double integral = x.back();
  x.pop_back();
  rows = {rows.average_load, 1, 0, std::move(x)};
  return integral;
}

DLeftLoads dleft_loads_of(std::uint32_t d, const DLeftRows& rows) {
  const Values x = plain(rows);
  DLeftLoads loads{rows.average_load, {}};
  for (std::uint32_t j = 0; j < d; ++j) {
    Values& fractions = loads.subtables.emplace_back(rows.first_load, 1.0);
    for (std::size_t at = j; at < x.size() && x[at] >= least_fraction; at += d)
      fractions.push_back(std::min(fractions.back(), x[at]));
  }
  return loads;
}

}  // namespace tally::theory::detail

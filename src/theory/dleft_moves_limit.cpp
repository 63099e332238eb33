#include "tally/theory/dleft_moves_limit.hpp"

#include <algorithm>
#include <array>
#include <boost/numeric/odeint/integrate/integrate_adaptive.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_cash_karp54.hpp>
#include <cmath>
#include <vector>

#include "tally/theory/dleft_orientable_load.hpp"
#include "theory/detail.hpp"
#include "theory/dleft_trajectory.hpp"

namespace tally::theory {
namespace {

namespace odeint = boost::numeric::odeint;
using Values = std::vector<double>;

constexpr std::uint32_t max_cells = 64;
constexpr std::uint32_t max_subtables = detail::max_subtables;
constexpr double first_load = 1e-3;  // at which no two elements share a bucket

/// Shares of the buckets of each subtable in the states (D, r), and how insertions and deletions change them.
class MovingBuckets {
 public:
  MovingBuckets(std::uint32_t d, std::uint32_t c) : d_(d), c_(c) {
    const double mean = static_cast<double>(d) * c;
    // More elements than this have a bucket with probability below 1e-12.
    most_pointers_ = static_cast<std::uint32_t>(mean + 8 * std::sqrt(mean) + 20);
  }

  /// `first_load` elements per bucket: all in the leftmost subtable.
  Values first() const {
    Values p(at(d_, 0, 0), 0.0);
    for (std::uint32_t j = 0; j < d_; ++j) {
      p[at(j, 1, j == 0)] = d_ * first_load;
      p[at(j, 0, 0)] = 1 - d_ * first_load;
    }
    return p;
  }

  /// Adds the change per element that is inserted, per bucket.
  void insert(const Values& p, Values& change) const {
    std::array<std::array<double, max_cells + 2>, max_subtables> at_least{};  // x_{j,r}
    double all_full = 1;
    for (std::uint32_t j = 0; j < d_; ++j) {
      for_each(j, [&](std::uint32_t, std::uint32_t r, std::size_t at) { at_least[j][r] += p[at]; });
      for (std::uint32_t r = c_; r > 0; --r) at_least[j][r - 1] += at_least[j][r];
      all_full *= at_least[j][c_];
    }
    const double open = num_open(p);
    const double moved = open > 0 ? all_full / open : 0;  // per pair of an element and a bucket with room
    for (std::uint32_t j = 0; j < d_; ++j) {
      // The rate at which a bucket with r is the least loaded; ties go left.
      std::array<double, max_cells + 1> chosen{};
      for (std::uint32_t r = 0; r < c_; ++r) {
        chosen[r] = d_;
        for (std::uint32_t other = 0; other < d_; ++other)
          if (other != j) chosen[r] *= at_least[other][other < j ? r + 1 : r];
      }
      for_each(j, [&](std::uint32_t pointers, std::uint32_t r, std::size_t from) {
        if (pointers < most_pointers_) {
          flow(change, from, at(j, pointers + 1, r), (d_ - chosen[r]) * p[from]);
          if (r < c_) flow(change, from, at(j, pointers + 1, r + 1), chosen[r] * p[from]);
        }
        if (r < std::min(c_, pointers))
          flow(change, from, at(j, pointers, r + 1), moved * (pointers - r) * p[from]);
      });
    }
  }

  /// Adds the change per element that is deleted, per bucket. All elements are deleted at the same rate.
  void remove(const Values& p, Values& change) const {
    double load = 0;
    for (std::uint32_t j = 0; j < d_; ++j)
      for_each(j, [&](std::uint32_t, std::uint32_t r, std::size_t at) { load += r * p[at] / d_; });
    for (std::uint32_t j = 0; j < d_; ++j) {
      for_each(j, [&](std::uint32_t pointers, std::uint32_t r, std::size_t from) {
        if (pointers == 0 || r > pointers) return;
        if (r > 0) flow(change, from, at(j, pointers - 1, r - 1), r * p[from] / load);
        if (r < pointers) flow(change, from, at(j, pointers - 1, r), (pointers - r) * p[from] / load);
      });
    }
  }

  DLeftMovesLimit limit(const Values& p) const {
    DLeftMovesLimit limit{0, 1, std::max(0.0, num_open(p) / num_elsewhere(p, most_pointers_))};
    for (std::uint32_t j = 0; j < d_; ++j) {
      double full = 0;
      for_each(j, [&](std::uint32_t, std::uint32_t r, std::size_t at) { full += r == c_ ? p[at] : 0; });
      limit.full_share += full / d_;
      limit.moves_probability *= full;
    }
    return limit;
  }

 private:
  std::size_t at(std::uint32_t j, std::uint32_t pointers, std::uint32_t r) const {
    return (static_cast<std::size_t>(j) * (most_pointers_ + 1) + pointers) * (c_ + 1) + r;
  }
  static void flow(Values& change, std::size_t from, std::size_t to, double rate) {
    change[from] -= rate;
    change[to] += rate;
  }
  /// Calls use(D, r, index) for the states of a subtable.
  template <class Use>
  void for_each(std::uint32_t j, Use use) const {
    std::size_t index = at(j, 0, 0);
    for (std::uint32_t pointers = 0; pointers <= most_pointers_; ++pointers)
      for (std::uint32_t r = 0; r <= c_; ++r) use(pointers, r, index++);
  }
  /// Pairs of an element and one of its buckets in which it is not, and which has less than `limit` elements; per bucket.
  double num_elsewhere(const Values& p, std::uint32_t limit) const {
    double sum = 0;
    for (std::uint32_t j = 0; j < d_; ++j) {
      for_each(j, [&](std::uint32_t pointers, std::uint32_t r, std::size_t at) {
        sum += r < std::min(limit, pointers) ? (pointers - r) * p[at] : 0;
      });
    }
    return sum / d_;
  }
  double num_open(const Values& p) const { return num_elsewhere(p, c_); }

  std::uint32_t d_;
  std::uint32_t c_;
  std::uint32_t most_pointers_;
};

template <class System>
void integrate(const System& system, Values& p, double duration) {
  if (!(duration > 0)) return;
  using Stepper = odeint::controlled_runge_kutta<odeint::runge_kutta_cash_karp54<Values>>;
  Stepper stepper(Stepper::error_checker_type(1e-11, 1e-8));
  odeint::integrate_adaptive(stepper, system, p, 0.0, duration, std::min(duration, 1e-3));
}

}  // namespace

DLeftMovesLimit dleft_moves_limit(std::uint32_t d, std::uint32_t c, double average_load,
                                  double steps_per_element) {
  constexpr const char* function = "dleft_moves_limit";
  detail::require(d >= 2 && d <= 8, function, "d", d, "2 to 8");
  detail::require(c >= 1 && c <= max_cells && d * c <= 256, function, "c", c,
                  "1 to 64, with d c at most 256");
  detail::require(average_load > 0 && average_load < dleft_orientable_load(d, c), function, "average_load",
                  average_load, "above 0 and below dleft_orientable_load");
  detail::require(steps_per_element >= 0 && steps_per_element <= 16, function, "steps_per_element",
                  steps_per_element, "0 to 16");
  const MovingBuckets buckets(d, c);
  Values p = buckets.first();
  integrate(
      [&](const Values& state, Values& change, double) {
        std::ranges::fill(change, 0.0);
        buckets.insert(state, change);
      },
      p, average_load - first_load);
  integrate(
      [&](const Values& state, Values& change, double) {
        std::ranges::fill(change, 0.0);
        buckets.insert(state, change);
        buckets.remove(state, change);
      },
      p, steps_per_element * average_load);
  return buckets.limit(p);
}

}  // namespace tally::theory

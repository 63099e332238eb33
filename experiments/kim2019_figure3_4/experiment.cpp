// Kim et al. 2019, Figures 3 and 4 and Lemmas 2 to 5: the shapes of y1, y2 and g, and where they cross. README.md has
// the claims.

#include <cmath>

#include "computed.hpp"
#include "run_experiment.hpp"
#include "tally/theory/kappa_star.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t drawn_threshold = 3;  // the paper's is missing from our copy

/// A function of kappa at points of equal distance on (0, 2 (theta + 1)].
class Scan {
 public:
  template <class Function>
  Scan(std::uint64_t theta, std::uint64_t num_points, Function f)
      : step_(2 * (static_cast<double>(theta) + 1) / static_cast<double>(num_points)) {
    for (std::uint64_t i = 1; i <= num_points; ++i) values_.push_back(f(static_cast<double>(i) * step_));
  }

  /// Between which points the sign changes.
  std::vector<Limits> sign_changes() const {
    std::vector<Limits> changes;
    for (std::size_t i = 1; i < values_.size(); ++i) {
      if ((values_[i - 1] < 0) != (values_[i] < 0))
        changes.push_back({static_cast<double>(i) * step_, static_cast<double>(i + 1) * step_});
    }
    return changes;
  }

  /// Neighbours within [low, high] that are not in the stated order.
  std::uint64_t num_out_of_order(bool falls, double low, double high) const {
    std::uint64_t num = 0;
    for (std::size_t i = 1; i < values_.size(); ++i) {
      const bool within = static_cast<double>(i) * step_ >= low && static_cast<double>(i + 1) * step_ <= high;
      num += within && (falls ? values_[i] >= values_[i - 1] : values_[i] <= values_[i - 1]);
    }
    return num;
  }

 private:
  double step_;
  std::vector<double> values_;
};

void add_lemmas(std::uint64_t theta, std::uint64_t num_points, Report& report) {
  const auto add = [&](std::string quantity, Claim claim, double predicted, Measured measured) {
    report.add({.setting = fmt::format("theta {}", theta),
                .quantity = std::move(quantity),
                .claim = claim,
                .predicted = predicted,
                .measured = std::move(measured)});
  };
  const Scan difference(theta, num_points,
                        [&](double kappa) { return theory::y1(theta, kappa) - theory::y2(theta, kappa); });
  const Scan g(theta, num_points, [&](double kappa) { return theory::g(theta, kappa); });
  const auto crossings = difference.sign_changes();
  const auto zeros = g.sign_changes();
  add("crossings of y1 and y2", Claim::equal, 2, computed(static_cast<double>(crossings.size()), num_points));
  add("zeros of g", Claim::equal, 1, computed(static_cast<double>(zeros.size()), num_points));
  if (crossings.size() != 2 || zeros.size() != 1) return;

  const double middle = (static_cast<double>(theta) + 1) / 2;
  const Measured kappa_1 = found_between(crossings[0], num_points);
  const Measured kappa_2 = found_between(crossings[1], num_points);
  const Measured kappa_star = found_between(zeros[0], num_points);
  add("kappa_1", Claim::equal, theory::kappa_1(theta), kappa_1);
  add("kappa_1 below (theta + 1)/2", Claim::below, middle, kappa_1);
  add("kappa_2", Claim::equal, theory::kappa_2(theta), kappa_2);
  add("kappa_2 above (theta + 1)/2", Claim::above, middle, kappa_2);
  add("kappa_2 below theta + 1", Claim::below, 2 * middle, kappa_2);
  add("kappa*", Claim::equal, theory::kappa_star(theta), kappa_star);
  add("kappa* above kappa_1", Claim::above, theory::kappa_1(theta), kappa_star);
  add("kappa* below kappa_2", Claim::below, theory::kappa_2(theta), kappa_star);
  const double end = 4 * middle;
  const std::uint64_t out_of_order = g.num_out_of_order(true, 0, crossings[0].low) +
                                     g.num_out_of_order(false, crossings[0].high, crossings[1].low) +
                                     g.num_out_of_order(true, crossings[1].high, end);
  add("points where g rises for falls or falls for rises", Claim::equal, 0,
      computed(static_cast<double>(out_of_order), num_points));
  add("y1 - y2 at (theta + 1)/2", Claim::above, 0,
      computed(theory::y1(theta, middle) - theory::y2(theta, middle), 1));
}

void add_curves(Report& report) {
  const auto add = [&](std::string name, double x, double value) {
    report.add({.setting = "curve " + name, .quantity = name, .x = x, .predicted = value});
  };
  constexpr int num_points = 240;
  const double end = 1.5 * (drawn_threshold + 1);
  for (int i = 1; i <= num_points; ++i) {
    const double kappa = end * i / num_points;
    add("y1", kappa, theory::y1(drawn_threshold, kappa));
    add("y2", kappa, theory::y2(drawn_threshold, kappa));
    add("g", kappa, theory::g(drawn_threshold, kappa));
  }
  for (const double kappa : {theory::kappa_1(drawn_threshold), theory::kappa_2(drawn_threshold)})
    add("crossing", kappa, theory::y2(drawn_threshold, kappa));
  add("kappa*", theory::kappa_star(drawn_threshold), 0);
}

void run(const Options& options, Report& report) {
  const std::uint64_t num_points = options.small ? 2000 : 20000;
  for (const std::uint64_t theta : {1, 2, 3, 5, 10, 20, 30}) add_lemmas(theta, num_points, report);
  add_curves(report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Kim et al. 2019, Figures 3 and 4 and Lemmas 2 to 5: y1, y2 and g",
                         .usual = {.trials = 2},
                         .small = {.trials = 2},
                         .run = run});
}

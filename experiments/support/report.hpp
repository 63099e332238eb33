#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "measured.hpp"

namespace tally::experiments {

/// By how much the true value must differ from the reference for the limits to notice it: their full width, over the
/// reference. The limits of a normally distributed mean then exclude the reference with as high a probability as they
/// contain the truth; with few rare events they do at least 4 times in 5. Infinite for the reference 0.
double noticed_difference(Limits limits, double reference);

/// From this difference on, ten times the reference, a row has tested nothing.
inline constexpr double untested_from = 9;

/// The range of values that a printed number may mean: half a unit of its last digit to both sides. Empty for other text.
std::optional<Limits> rounded(const std::string& printed);

/// What is claimed of the measured value: that it is the predicted one, below it, or above it.
enum class Claim : char { equal = '=', below = '<', above = '>' };

/// One number: as the paper prints it, as a formula predicts it, as it was measured. All but the names may be missing.
struct Row {
  std::string setting{};
  std::string quantity{};
  std::optional<double> x{};  ///< its place on the plot's horizontal axis
  std::string published{};
  Claim claim = Claim::equal;
  std::optional<double> predicted{};
  std::optional<Measured> measured{};
  std::optional<double>
      noticed{};  ///< the relative difference that the trials would notice, if not by the limits
};

/// The rows of one experiment. Limits hold for all rows together with 99.9% (Bonferroni).
class Report {
 public:
  void add(Row row);

  /// As CSV, with what follows for each row:
  /// `holds`  whether the claim about the predicted value lies inside the limits: yes, no, or undecided where
  ///          `below` or `above` needs more trials;
  /// `paper`  whether the published number, give or take half a unit of its last digit, lies inside the limits,
  ///          or, where nothing was measured, agrees with the predicted value.
  /// `noticed` the difference from the predicted (or published) value that these trials would have noticed: a share of
  ///          it, a multiple, or, where 0 is predicted, the value itself.
  /// The first two are empty where there is nothing to compare, and `untested` instead of yes where only a value of ten
  /// times as much would have been noticed.
  void write(std::ostream& out) const;

  /// Whether no row contradicts its prediction.
  bool holds() const;

 private:
  std::optional<Limits> limits_of(const Row& row) const;
  std::string holds(const Row& row) const;
  std::string paper_holds(const Row& row) const;
  std::string noticed(const Row& row) const;
  bool is_untested(const Row& row) const;

  std::vector<Row> rows_;
};

}  // namespace tally::experiments

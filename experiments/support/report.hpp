#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "measured.hpp"

namespace tally::experiments {

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
  /// Either is empty where there is nothing to compare.
  void write(std::ostream& out) const;

  /// Whether no row contradicts its prediction.
  bool holds() const;

 private:
  std::optional<Limits> limits_of(const Row& row) const;
  std::string holds(const Row& row) const;
  std::string paper_holds(const Row& row) const;

  std::vector<Row> rows_;
};

}  // namespace tally::experiments

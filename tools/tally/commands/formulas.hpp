#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/theory/compound_poisson.hpp"

namespace tally::cli {

/// What the user gave for a formula's parameters, by name without dashes.
struct Arguments {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  std::map<std::string, double, std::less<>> reals;
  std::map<std::string, std::string, std::less<>> files;
  std::set<std::string, std::less<>> flags;

  std::uint64_t count(std::string_view name) const { return counts.find(name)->second; }
  std::uint64_t count_or(std::string_view name, std::uint64_t otherwise) const;
  /// Throws std::invalid_argument for a value above 2^32 - 1.
  std::uint32_t small_count(std::string_view name) const { return narrowed(name, count(name)); }
  std::uint32_t small_count_or(std::string_view name, std::uint32_t otherwise) const {
    return narrowed(name, count_or(name, otherwise));
  }
  double real(std::string_view name) const { return reals.find(name)->second; }
  bool has(std::string_view name) const;

 private:
  static std::uint32_t narrowed(std::string_view name, std::uint64_t value);
};

struct FormulaResult {
  double value = 0;
  std::optional<double> ln_value = std::nullopt;  ///< for probabilities
  std::vector<std::pair<std::string, double>> fields = {};
  std::vector<std::pair<std::string, std::vector<double>>> lists = {};
};

/// One formula of the calculator. The list of formulas, the check of options and the help are made from these.
struct Formula {
  std::string_view name;
  std::string_view parameters;  ///< "--m --k --n [--exact]": names from parameter_table(), [optional]
  std::string_view summary;
  std::string_view source;
  FormulaResult (*evaluate)(const Arguments&);

  struct Parameter {
    std::string name;
    bool required;
  };
  std::vector<Parameter> parameter_list() const;
};

/// The histogram that --histogram, or --zipf with --ranks and --insertions, gives, up to `limit`. Throws
/// std::invalid_argument, with the formula's name, unless exactly one of them is given.
theory::CountHistogram histogram_of(const Arguments& arguments, std::string_view formula,
                                    std::uint64_t limit);

/// All of them; those of Count-Min sketches are in formulas_count_min.cpp, those of conservative update in
/// formulas_conservative.cpp, those of the d-left filter in formulas_dleft.cpp, those of double hashing in
/// formulas_double_hashing.cpp, those of summaries in formulas_summaries.cpp, those of shares in
/// formulas_shares.cpp.
const std::vector<Formula>& formulas();
std::vector<Formula> conservative_formulas();
std::vector<Formula> count_min_formulas();
std::vector<Formula> dleft_formulas();
std::vector<Formula> double_hashing_formulas();
std::vector<Formula> summary_formulas();
std::vector<Formula> share_formulas();
std::vector<Formula> saturation_formulas();

enum class ParameterType { count, real, file, flag };

struct ParameterText {
  std::string_view name;
  ParameterType type;
  std::string_view description;
};

/// Every parameter of any formula.
const std::vector<ParameterText>& parameter_table();

}  // namespace tally::cli

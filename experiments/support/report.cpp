#include "report.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <ostream>
#include <stdexcept>

namespace tally::experiments {
namespace {

constexpr double family_confidence = 0.999;

template <class Number>
std::string text_of(const std::optional<Number>& number) {
  return number ? fmt::format("{:.7g}", *number) : std::string();
}

std::string yes_or_no(bool yes) { return yes ? "yes" : "no"; }

/// What the measured value is claimed to be: by the formula, or else by the paper.
std::optional<double> reference_of(const Row& row) {
  if (row.predicted && row.claim == Claim::equal) return row.predicted;
  const auto printed = rounded(row.published);
  if (!printed) return std::nullopt;
  return (printed->low + printed->high) / 2;
}

}  // namespace

double noticed_difference(Limits limits, double reference) {
  return (limits.high - limits.low) / std::fabs(reference);
}

std::optional<Limits> rounded(const std::string& printed) {
  char* end = nullptr;
  const double value = std::strtod(printed.c_str(), &end);
  if (printed.empty() || *end != '\0') return std::nullopt;
  const std::string mantissa = printed.substr(0, printed.find_first_of("eE"));
  const std::size_t point = mantissa.find('.');
  const auto decimals = point == std::string::npos ? 0 : static_cast<double>(mantissa.size() - point - 1);
  const std::size_t exponent = printed.find_first_of("eE");
  const double power =
      exponent == std::string::npos ? 0 : std::strtod(printed.c_str() + exponent + 1, nullptr);
  const double half = 0.5000001 * std::pow(10, power - decimals);
  return Limits{value - half, value + half};
}

void Report::add(Row row) {
  for (const std::string* text : {&row.setting, &row.quantity, &row.published}) {
    if (text->find_first_of(",\"\n|") != std::string::npos)
      throw std::invalid_argument("Report: '" + *text + "' has a comma, quote, bar or newline");
  }
  rows_.push_back(std::move(row));
}

std::optional<Limits> Report::limits_of(const Row& row) const {
  if (!row.measured || !row.measured->limits) return std::nullopt;
  const auto has_limits = [](const Row& each) { return each.measured && each.measured->limits; };
  const auto num_tests = static_cast<std::uint64_t>(std::count_if(rows_.begin(), rows_.end(), has_limits));
  return row.measured->limits(theory::per_test_confidence(family_confidence, num_tests));
}

std::string Report::holds(const Row& row) const {
  const auto limits = limits_of(row);
  if (!limits || !row.predicted) return "";
  const bool is_below = limits->high < *row.predicted;
  const bool is_above = limits->low > *row.predicted;
  if (row.claim == Claim::equal && is_untested(row)) return "untested";
  if (row.claim == Claim::equal) return yes_or_no(!is_below && !is_above);
  if (!is_below && !is_above) return "undecided";
  return yes_or_no(is_below == (row.claim == Claim::below));
}

std::string Report::paper_holds(const Row& row) const {
  const auto printed = rounded(row.published);
  if (!printed) return "";
  const auto limits = limits_of(row);
  if (limits && is_untested(row)) return "untested";
  if (limits) return yes_or_no(printed->low <= limits->high && limits->low <= printed->high);
  const std::optional<double> ours = row.measured ? row.measured->value : row.predicted;
  return ours ? yes_or_no(printed->low <= *ours && *ours <= printed->high) : "";
}

/// A value outside the limits has been noticed, however wide they are.
bool Report::is_untested(const Row& row) const {
  const auto limits = limits_of(row);
  const auto reference = reference_of(row);
  return limits && reference && *reference != 0 && limits->low <= *reference && *reference <= limits->high &&
         noticed_difference(*limits, *reference) > untested_from;
}

std::string Report::noticed(const Row& row) const {
  if (row.noticed) return fmt::format("{:.2g}%", 100 * *row.noticed);
  const auto limits = limits_of(row);
  const auto reference = reference_of(row);
  if (!limits || !reference || limits->low == limits->high) return "";
  const double difference = noticed_difference(*limits, *reference);
  if (*reference == 0) return fmt::format("{:.2g} instead of 0", limits->high - limits->low);
  if (difference <= 1) return fmt::format("{:.2g}%", 100 * difference);
  return fmt::format("{:.2g} times as much", 1 + difference);
}

bool Report::holds() const {
  return std::none_of(rows_.begin(), rows_.end(), [&](const Row& row) { return holds(row) == "no"; });
}

void Report::write(std::ostream& out) const {
  out << "setting,quantity,x,published,claim,predicted,measured,low,high,trials,holds,paper,noticed\n";
  for (const Row& row : rows_) {
    const auto limits = limits_of(row);
    out << fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.setting, row.quantity, text_of(row.x), row.published,
        row.predicted ? std::string(1, static_cast<char>(row.claim)) : "", text_of(row.predicted),
        row.measured ? fmt::format("{:.7g}", row.measured->value) : "",
        limits ? fmt::format("{:.7g}", limits->low) : "", limits ? fmt::format("{:.7g}", limits->high) : "",
        row.measured ? std::to_string(row.measured->trials) : "", holds(row), paper_holds(row), noticed(row));
  }
}

}  // namespace tally::experiments

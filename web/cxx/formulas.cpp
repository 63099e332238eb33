#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "arguments.hpp"
#include "functions.hpp"
#include "tally/theory.hpp"

namespace tally::page {
namespace {

constexpr std::size_t most_parameters = 6;
constexpr std::uint32_t line_bits = 512;
constexpr std::uint32_t words_per_line = 8;

/// The arguments of a formula, in the order of its parameters.
struct Values {
  std::array<std::uint64_t, most_parameters> whole{};
  std::array<double, most_parameters> real{};

  std::uint32_t small(std::size_t i) const {
    if (whole[i] > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument(std::to_string(whole[i]) + " is too large; must be below 2^32");
    return static_cast<std::uint32_t>(whole[i]);
  }
};

/// A formula of tally/theory/ that live plots need. `parameters` are names with a blank after each; those that end in ~ are
/// real numbers, the others whole ones. Names are those of the papers, as in the headers.
struct Formula {
  std::string_view name;
  std::string_view parameters;
  double (*value)(const Values& values);
};

constexpr Formula formulas[] = {
    {"bloom_false_positive_rate", "m k n ",
     [](const Values& v) { return theory::false_positive_probability(v.whole[0], v.small(1), v.whole[2]); }},
    {"bloom_best_num_hashes", "m n ",
     [](const Values& v) { return static_cast<double>(theory::best_num_hashes(v.whole[0], v.whole[1])); }},
    {"bloom_best_false_positive_rate", "m n ",
     [](const Values& v) { return theory::best_false_positive_probability(v.whole[0], v.whole[1]); }},
    {"bloom_partitioned_false_positive_rate", "m k n ",
     [](const Values& v) {
       return theory::false_positive_probability_partitioned(v.whole[0], v.small(1), v.whole[2]);
     }},
    {"blocked_bloom_false_positive_rate", "m k n ",
     [](const Values& v) {
       return theory::blocked_bloom_false_positive_probability(v.whole[0] / line_bits, line_bits, v.small(1),
                                                               v.whole[2]);
     }},
    {"register_blocked_bloom_false_positive_rate", "m k n ",
     [](const Values& v) {
       return theory::register_bloom_false_positive_probability(
           v.whole[0] / line_bits, words_per_line, line_bits / words_per_line, v.small(1), v.whole[2]);
     }},
    {"counter_overflow_bound", "m k n i ",
     [](const Values& v) {
       return theory::counter_overflow_union_bound(v.whole[0], v.small(1), v.whole[2], v.whole[3]);
     }},
    {"threshold_false_positive_rate", "theta k n m true_count ",
     [](const Values& v) {
       return theory::threshold_false_positive_probability(v.whole[0], v.small(1), v.whole[2], v.whole[3],
                                                           v.whole[4]);
     }},
    {"threshold_best_num_hashes", "theta n m ",
     [](const Values& v) {
       return static_cast<double>(theory::best_num_hashes_threshold(v.whole[0], v.whole[1], v.whole[2]));
     }},
    {"dleft_false_positive_rate", "B R n ",
     [](const Values& v) {
       return theory::dleft_false_positive_probability(v.whole[0], v.whole[1], v.whole[2]);
     }},
    {"dleft_overflow_probability", "d c average_load~ steps_per_element~ ",
     [](const Values& v) {
       return theory::dleft_overflow_probability(theory::dleft_loads(v.small(0), v.real[2], v.real[3]),
                                                 v.small(1));
     }},
    {"dleft_orientable_load", "d c ",
     [](const Values& v) { return theory::dleft_orientable_load(v.small(0), v.small(1)); }},
    {"dleft_safe_load", "d B c N failure_probability~ ",
     [](const Values& v) {
       return theory::dleft_safe_load(v.small(0), v.whole[1], v.small(2), v.whole[3], v.real[4]);
     }},
    {"count_min_failure_probability", "w depth epsilon~ ",
     [](const Values& v) {
       return theory::count_min_failure_probability(v.whole[0], v.small(1), v.real[2]);
     }},
    {"count_min_two_hash_failure_probability", "w depth epsilon~ num_copies ",
     [](const Values& v) {
       return theory::count_min_two_hash_failure_probability(v.whole[0], v.small(1), v.real[2], v.small(3));
     }},
    {"poisson_upper_tail", "theta kappa~ ",
     [](const Values& v) { return std::exp(theory::ln_poisson_upper_tail(v.whole[0], v.real[1])); }},
    {"binomial_upper_tail", "theta trials~ p~ ",
     [](const Values& v) {
       return std::exp(theory::ln_binomial_upper_tail(v.whole[0], v.real[1], v.real[2]));
     }},
};

/// The arguments of a formula: each a number, or a list with one number per point.
class Columns {
 public:
  Columns(std::string_view parameters, const Json& fields) : arguments_(fields, "arguments.") {
    while (!parameters.empty()) {
      const std::size_t end = parameters.find(' ');
      const std::string_view name = parameters.substr(0, end);
      parameters.remove_prefix(end + 1);
      const bool is_real = name.ends_with('~');
      columns_.push_back({std::string(name.substr(0, name.size() - is_real)), is_real, nullptr});
    }
    for (Column& column : columns_) {
      column.json = &arguments_.get(column.name);
      if (column.json->elements().empty()) continue;
      has_lists_ = true;
      const std::size_t size = column.json->elements().size();
      if (size > most_points || (num_points_ != 0 && num_points_ != size))
        arguments_.refuse(column.name, *column.json,
                          "a number or a list, as long as the others, of at most 1000");
      num_points_ = size;
    }
    arguments_.refuse_others();
  }

  bool has_lists() const { return has_lists_; }
  std::size_t num_points() const { return has_lists_ ? num_points_ : 1; }

  Values at(std::size_t point) const {
    Values values;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      const bool is_list = !column.json->elements().empty();
      const Json one = {{column.name, is_list ? column.json->elements()[point] : *column.json}};
      Arguments own(one, "arguments.");
      if (column.is_real) values.real[i] = own.required<double>(column.name);
      else values.whole[i] = own.required<std::uint64_t>(column.name);
    }
    return values;
  }

 private:
  struct Column {
    std::string name;
    bool is_real;
    const Json* json;
  };

  Arguments arguments_;
  std::vector<Column> columns_;
  bool has_lists_ = false;
  std::size_t num_points_ = 0;
};

/// The fluid limit of a d-left table: shares of the buckets with at least 0, 1, 2, ... cells in use.
Json dleft_loads(const Json& fields) {
  Arguments arguments(fields, "arguments.");
  const auto d = arguments.required<std::uint32_t>("d");
  const auto average_load = arguments.required<double>("average_load");
  double steps = theory::insert_only;
  if (const Json* const given = arguments.find("steps_per_element"); given != nullptr) {
    const auto* const text = given->get_if<std::string>();
    if (text != nullptr && *text == "steady_state") steps = theory::steady_state;
    else arguments.read("steps_per_element", steps);
  }
  arguments.refuse_others();
  const theory::DLeftLoads loads = theory::dleft_loads(d, average_load, steps);
  Json subtables = Json::array();
  std::size_t most = 0;
  for (const std::vector<double>& fractions : loads.subtables) {
    subtables.push_back(fractions);
    most = std::max(most, fractions.size());
  }
  Json all = Json::array();
  for (std::size_t load = 0; load < most; ++load) all.push_back(loads.fraction(load));
  return {{"fractions", all}, {"subtables", subtables}};
}

Json values_of(const Formula& formula, const Json& arguments) {
  const Columns columns(formula.parameters, arguments);
  Json values = Json::array();
  for (std::size_t point = 0; point < columns.num_points(); ++point)
    values.push_back(formula.value(columns.at(point)));
  return columns.has_lists() ? values : values.elements()[0];
}

}  // namespace

Json theory(const Json& fields) {
  Arguments arguments(fields);
  const auto name = arguments.required<std::string>("name");
  const Json& own = arguments.get("arguments");
  arguments.refuse_others();
  if (name == "dleft_loads") return dleft_loads(own);
  std::string names = "dleft_loads";
  for (const Formula& formula : formulas) {
    if (formula.name == name) return values_of(formula, own);
    names.append(", ").append(formula.name);
  }
  arguments.refuse("name", name, "one of " + names);
}

}  // namespace tally::page

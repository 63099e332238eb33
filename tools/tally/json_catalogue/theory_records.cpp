#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> theory_records() {
  using Form = JsonRecord::Form;
  return {
      {.name = "formula_result",
       .form = Form::document,
       .commands = {"theory"},
       .summary = "The result of a formula",
       .table = R"(
formula | string | | its name
parameters | formula_parameters | | what was given
value | number or null | | the result; null if it is not finite
ln_value? | number or null | | for probabilities: the natural logarithm, which is finite where the probability underflows;
  null for 0
source? | string | | the paper, or the papers
* | number or null or [number] | | further results of the formula, by the names that it prints without --json
)"},
      {.name = "formula_parameters", .summary = "The parameters of a formula", .table = R"(
* | integer or number or string or boolean | | a parameter by its name without dashes; `tally theory --help` has their
  meanings and units
)"},
      {.name = "formula",
       .form = Form::list,
       .commands = {"theory"},
       .summary = "Without a formula: all formulas",
       .table = R"(
formula | string | | its name
parameters | string | | its options; those in brackets may be left out
summary | string | | what it calculates
source | string | | the paper, or the papers; empty if there is none
)"},
  };
}

}  // namespace tally::cli

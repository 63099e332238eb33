#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "cli/suggestion.hpp"
#include "commands/commands.hpp"
#include "commands/formulas.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

struct TheoryOptions {
  std::string name;
  Arguments arguments;
  bool json = false;
};

const Formula& formula_named(const std::string& name) {
  for (const Formula& formula : formulas()) {
    if (formula.name == name) return formula;
  }
  std::vector<std::string> names;
  for (const Formula& formula : formulas()) names.emplace_back(formula.name);
  const std::string suggestion = did_you_mean(name, names);
  throw std::invalid_argument(fmt::format("there is no formula '{}'{}", name,
                                          suggestion.empty() ? "; 'tally theory' lists them" : suggestion));
}

/// All required parameters are given, and no parameter that the formula does not have.
void check_arguments(const Formula& formula, const Arguments& arguments) {
  const std::vector<Formula::Parameter> known = formula.parameter_list();
  for (const Formula::Parameter& parameter : known) {
    if (parameter.required && !arguments.has(parameter.name)) {
      throw std::invalid_argument(
          fmt::format("{}: --{} is missing; give {}", formula.name, parameter.name, formula.parameters));
    }
  }
  for (const ParameterText& parameter : parameter_table()) {
    const auto is_it = [&](const Formula::Parameter& its) { return its.name == parameter.name; };
    if (arguments.has(parameter.name) && std::none_of(known.begin(), known.end(), is_it)) {
      throw std::invalid_argument(fmt::format("{}: --{} is not a parameter; the parameters are {}",
                                              formula.name, parameter.name, formula.parameters));
    }
  }
  int num_forms = 0;
  for (const std::string_view form : {"exact", "approximate", "occupancy", "expansion", "partitioned"})
    num_forms += arguments.has(form);
  if (num_forms > 1)
    throw std::invalid_argument(fmt::format("{}: {} forms are given; give one", formula.name, num_forms));
}

std::string listing() {
  std::string text;
  for (const Formula& formula : formulas()) {
    text += fmt::format("{} {}\n  {}\n", formula.name, formula.parameters, wrapped(formula.summary, 2));
    if (!formula.source.empty()) text += fmt::format("  {}\n", formula.source);
    text += "\n";
  }
  return text;
}

Json listing_json() {
  Json list = Json::array();
  for (const Formula& formula : formulas()) {
    list.push_back({{"formula", formula.name},
                    {"parameters", formula.parameters},
                    {"summary", formula.summary},
                    {"source", formula.source}});
  }
  return list;
}

Json result_json(const Formula& formula, const Arguments& arguments, const FormulaResult& result) {
  Json parameters = Json::object();
  for (const auto& [name, value] : arguments.counts) parameters[name] = value;
  for (const auto& [name, value] : arguments.reals) parameters[name] = value;
  for (const auto& [name, value] : arguments.files) parameters[name] = value;
  for (const std::string& name : arguments.flags) parameters[name] = true;
  Json json = {{"formula", formula.name}, {"parameters", parameters}, {"value", result.value}};
  if (result.ln_value) json["ln_value"] = *result.ln_value;
  for (const auto& [name, value] : result.fields) json[name] = value;
  for (const auto& [name, values] : result.lists) json[name] = values;
  if (!formula.source.empty()) json["source"] = formula.source;
  return json;
}

std::string result_text(const FormulaResult& result) {
  std::string text = fmt::format("{:.17g}\n", result.value);
  if (result.ln_value) text += fmt::format("ln_value {:.17g}\n", *result.ln_value);
  for (const auto& [name, value] : result.fields) text += fmt::format("{} {:.17g}\n", name, value);
  for (const auto& [name, values] : result.lists)
    text += fmt::format("{} {:.17g}\n", name, fmt::join(values, " "));
  return text;
}

void declare_parameter(CommandLine app, const ParameterText& parameter, Arguments& arguments) {
  const std::string name(parameter.name);
  const std::string option = "--" + name;
  const std::string description(parameter.description);
  Option declared;
  switch (parameter.type) {
    case ParameterType::count:
      declared = app.add_parsed(
          option,
          [&arguments, name](std::string_view text) {
            arguments.counts[name] = parse_count(text, {0, std::numeric_limits<std::uint64_t>::max()});
          },
          description, "NUMBER");
      break;
    case ParameterType::real:
      declared = app.add_parsed(
          option, [&arguments, name](std::string_view text) { arguments.reals[name] = parse_real(text); },
          description, "NUMBER");
      break;
    case ParameterType::file:
      declared = app.add_parsed(
          option, [&arguments, name](std::string_view text) { arguments.files[name] = text; }, description,
          "FILE");
      break;
    case ParameterType::flag:
      declared = app.add_flag(
          option, [&arguments, name] { arguments.flags.insert(name); }, description);
      break;
  }
  declared.group("Parameters");
}

}  // namespace

Run declare_theory(CommandLine app) {
  const auto options = std::make_shared<TheoryOptions>();
  add_details(app, R"(
      Numbers may be written 1e9 or 10M. --json prints one object: 'value' in full precision, and for probabilities
      also 'ln_value', which is finite even if the probability underflows (null for 0).
      )");
  app.set_exit_status({.success = "after success"});
  app.add_option("formula", options->name, "Name of the formula").type_name("FORMULA");
  std::vector<std::string> names;
  for (const Formula& formula : formulas()) names.emplace_back(formula.name);
  app.set_suggestions("formula", std::move(names));
  for (const ParameterText& parameter : parameter_table())
    declare_parameter(app, parameter, options->arguments);
  add_json(app, options->json);
  return [options] {
    if (options->name.empty()) {
      options->json ? print_json(listing_json()) : print(listing());
      return ExitCode::success;
    }
    const Formula& formula = formula_named(options->name);
    check_arguments(formula, options->arguments);
    const FormulaResult result = formula.evaluate(options->arguments);
    options->json ? print_json(result_json(formula, options->arguments, result)) : print(result_text(result));
    return ExitCode::success;
  };
}

}  // namespace tally::cli

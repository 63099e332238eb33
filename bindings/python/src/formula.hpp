#pragma once

#include <pybind11/numpy.h>

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "guard.hpp"
#include "python.hpp"
#include "theory_values.hpp"

namespace tally::python {

/// The names of the parameters in "name(m, k, n)", without default values.
inline std::vector<std::string> parameters_in(std::string_view signature) {
  std::vector<std::string> names;
  std::string_view rest = signature.substr(signature.find('(') + 1);
  while (!rest.empty() && rest.front() != ')') {
    const std::size_t end = rest.find_first_of(",)");
    const std::string_view parameter = rest.substr(0, end);
    names.emplace_back(parameter.substr(0, parameter.find('=')));
    rest.remove_prefix(end + (rest[end] == ',' ? 2 : 0));
  }
  return names;
}

namespace formulas {

template <class Result, class... Parameters, std::size_t... index, class... Extra>
void define_formula(py::module_& module, std::string_view signature, Result (*formula)(Parameters...),
                    std::string_view text, std::index_sequence<index...>, const Extra&... extra) {
  const std::vector<std::string> names = parameters_in(signature);
  const auto call = [formula, names](decltype((void)index, py::handle())... arguments) {
    const std::tuple values{
        Argument<std::remove_cvref_t<Parameters>>::of(arguments, names[index].c_str())...};
    const auto compute = [&] {
      const Unlocked unlocked;
      return std::apply(formula, values);
    };
    return to_python(compute());
  };
  module.def(name_in(signature).c_str(), call, extra..., documented(signature, text).c_str());
}

}  // namespace formulas

/// Defines a function of tally.theory: formula(module, "kappa_star(theta)", theory::kappa_star, "..."). Errors name the
/// parameters as the signature does.
template <class Result, class... Parameters>
void formula(py::module_& module, std::string_view signature, Result (*function)(Parameters...),
             std::string_view text) {
  const std::vector<std::string> names = parameters_in(signature);
  [&]<std::size_t... index>(std::index_sequence<index...> all) {
    formulas::define_formula(module, signature, function, text, all, py::arg(names[index].c_str())...);
  }
  (std::index_sequence_for<Parameters...>());
}

/// The same if the last parameter has a default value.
template <class Result, class... Parameters>
void formula(py::module_& module, std::string_view signature, Result (*function)(Parameters...),
             std::string_view text, int last_value) {
  const std::vector<std::string> names = parameters_in(signature);
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    formulas::define_formula(module, signature, function, text, std::index_sequence_for<Parameters...>(),
                             py::arg(names[index].c_str())..., py::arg(names.back().c_str()) = last_value);
  }
  (std::make_index_sequence<sizeof...(Parameters) - 1>());
}

}  // namespace tally::python

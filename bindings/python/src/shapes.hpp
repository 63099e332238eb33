#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "arguments.hpp"
#include "tally/planner.hpp"

// Shapes and requirements, from and to Python.

namespace tally::python {

/// One of tally.BloomShape, tally.DLeftShape, ...
py::object to_python(const FilterShape& shape);

/// The shape of such an object. Throws TypeError for another object, TypeError or ValueError for its fields.
FilterShape shape_from(py::handle shape);

/// The requirements of keyword arguments. Throws TypeError for another name, naming `function`; TypeError or
/// ValueError for values. Names in `others` are left to the caller.
class RequirementsArgument {
 public:
  RequirementsArgument(const char* function, const py::dict& arguments,
                       std::span<const char* const> others = {});

  Requirements requirements;
  bool is_empty = true;

 private:
  std::string scheme_;  // which the requirements refer to
};

/// The value with this name, of those that name_of names. Throws TypeError, or ValueError that lists the names.
template <class Enum, std::size_t size>
Enum named_value(py::handle name, const char* field, const std::array<Enum, size>& values) {
  const std::string wanted = text(name, field);
  std::string rule;
  for (const Enum value : values) {
    if (name_of(value) == wanted) return value;
    rule += (rule.empty() ? "'" : " or '") + std::string(name_of(value)) + "'";
  }
  throw_value_error(field, name, rule);
}

inline constexpr std::array counter_updates = {CounterUpdate::plain, CounterUpdate::conservative};
inline constexpr std::array plan_preferences = {PlanPreference::fastest, PlanPreference::smallest,
                                                PlanPreference::balanced};

}  // namespace tally::python

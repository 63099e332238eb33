#pragma once

#include "python.hpp"

// The parts of the module. Each defines its classes and functions.

namespace tally::python {

void bind_filters(py::module_& module);
void bind_keys(py::module_& module);
void bind_files(py::module_& module);
void bind_planner(py::module_& module);
void bind_planner_forecast(py::module_& module);
void bind_sets(py::module_& module);
void bind_sketches(py::module_& module);
void bind_streams(py::module_& module);
void bind_summaries(py::module_& module);
void bind_theory(py::module_& module);
void bind_verify(py::module_& module);
void define_similarity(py::module_& module);

}  // namespace tally::python

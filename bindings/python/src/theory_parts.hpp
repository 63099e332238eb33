#pragma once

#include "python.hpp"

namespace tally::python {

// The functions of tally.theory by topic.
void define_theory_bloom(py::module_& module);
void define_theory_counts(py::module_& module);
void define_theory_dleft(py::module_& module);
void define_theory_sets(py::module_& module);

}  // namespace tally::python

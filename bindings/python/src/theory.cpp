#include "bindings.hpp"
#include "theory_parts.hpp"

namespace tally::python {

void bind_theory(py::module_& module) {
  py::module_ theory = module.def_submodule("_theory", "All formulas, in the symbols of the papers.");
  define_theory_bloom(theory);
  define_theory_counts(theory);
  define_theory_dleft(theory);
  define_theory_sets(theory);
}

}  // namespace tally::python

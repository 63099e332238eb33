#include "bindings.hpp"
#include "sketch.hpp"
namespace tally::python {
void bind_summaries(py::module_&) {}
void bind_theory(py::module_& m) { m.def_submodule("theory"); }
void bind_verify(py::module_&) {}
}  // namespace tally::python

#include "bindings.hpp"
#include "sketch.hpp"
namespace tally::python {
void bind_planner(py::module_&) {}
void bind_sets(py::module_&) {}
void bind_sketches(py::module_&) {}
void bind_streams(py::module_&) {}
void bind_summaries(py::module_&) {}
void bind_theory(py::module_& m) { m.def_submodule("theory"); }
void bind_verify(py::module_&) {}
py::object wrapped(AnySketch) { return py::none(); }
}  // namespace tally::python

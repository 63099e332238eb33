#include "bindings.hpp"
#include "sketch.hpp"
namespace tally::python {
void bind_streams(py::module_&) {}
void bind_summaries(py::module_&) {}
}  // namespace tally::python

#include "bindings.hpp"
#include "sketch.hpp"
namespace tally::python {
void bind_summaries(py::module_&) {}
}  // namespace tally::python

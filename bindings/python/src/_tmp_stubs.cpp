#include "bindings.hpp"
namespace tally::python {
void bind_streams(py::module_&) {}
}  // namespace tally::python

#include "bindings.hpp"
#include "streams_methods.hpp"

namespace tally::python {

void bind_streams(py::module_& module) {
  bind_threshold_stream(module);
  bind_sum_stream(module);
  bind_top_stream(module);
}

}  // namespace tally::python

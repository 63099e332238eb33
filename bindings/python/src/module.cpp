#include "bindings.hpp"
#include "errors.hpp"
#include "records.hpp"

PYBIND11_MODULE(_tally, module) {
  using namespace tally::python;
  py::options options;
  options.disable_function_signatures();  // each docstring begins with one
  module.doc() = "The C++ side of the package tally.";
  load_records();
  register_errors();
  bind_keys(module);
  bind_filters(module);
  define_similarity(module);
  bind_sets(module);
  bind_sketches(module);
  bind_files(module);
  bind_planner(module);
  bind_verify(module);
  bind_streams(module);
  bind_summaries(module);
  bind_theory(module);
}

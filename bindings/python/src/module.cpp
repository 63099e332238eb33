#include "bindings.hpp"
#include "errors.hpp"
#include "records.hpp"

namespace tally::python {
namespace {

newfunc new_of_pybind11 = nullptr;

/// pybind11 ends the process where its base class is called itself.
PyObject* new_but_not_of_the_base(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  if (reinterpret_cast<PyObject*>(type) != py::detail::get_internals().instance_base)
    return new_of_pybind11(type, arguments, keywords);
  PyErr_SetString(PyExc_TypeError, "pybind11_object is a base class; it cannot be made itself");
  return nullptr;
}

void protect_base_class() {
  auto* base = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  if (base->tp_new == new_but_not_of_the_base) return;
  new_of_pybind11 = base->tp_new;
  base->tp_new = new_but_not_of_the_base;
  PyType_Modified(base);
}

}  // namespace
}  // namespace tally::python

PYBIND11_MODULE(_tally, module) {
  using namespace tally::python;
  py::options options;
  options.disable_function_signatures();  // each docstring begins with one
  module.doc() = "The C++ side of the package tally.";
  protect_base_class();
  load_records();
  register_errors();
  bind_keys(module);
  bind_filters(module);
  define_similarity(module);
  bind_sets(module);
  bind_sketches(module);
  bind_files(module);
  bind_planner(module);
  bind_planner_forecast(module);
  bind_verify(module);
  bind_streams(module);
  bind_summaries(module);
  bind_theory(module);
}

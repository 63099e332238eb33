#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

namespace tally::python {

namespace py = pybind11;
using namespace pybind11::literals;

/// A docstring that begins with the signature, where inspect.signature and help() read it. `signature` is
/// "name(a, b=None)", or "name(self, a)" for a method.
inline std::string documented(std::string_view signature, std::string_view text) {
  return std::string(signature) + "\n--\n\n" + std::string(text);
}

/// "name" of "name(self, a)".
inline std::string name_in(std::string_view signature) {
  return std::string(signature.substr(0, signature.find('(')));
}

/// Defines a function of a module, with the name and the documentation of its signature.
template <class Function, class... Extra>
void define(py::module_& scope, std::string_view signature, Function&& function, std::string_view text,
            const Extra&... extra) {
  scope.def(name_in(signature).c_str(), std::forward<Function>(function), extra...,
            documented(signature, text).c_str());
}

/// The same for a method of a class.
template <class Function, class... Extra>
void method(py::handle cls, std::string_view signature, Function&& function, std::string_view text,
            const Extra&... extra) {
  const std::string name = name_in(signature);
  const std::string documentation = documented(signature, text);
  py::setattr(cls, name.c_str(),
              py::cpp_function(std::forward<Function>(function), py::name(name.c_str()), py::is_method(cls),
                               extra..., documentation.c_str()));
}

/// Defines __reduce__ and __reduce_ex__, which raise TypeError. Without them, pickle would call pybind11's own base class.
inline void refuse_pickling(py::handle cls, const char* why) {
  const auto refuse = [why](py::handle, const py::args&) -> py::object { throw py::type_error(why); };
  for (const char* signature : {"__reduce__(self, *args)", "__reduce_ex__(self, *args)"})
    method(cls, signature, refuse, "Not possible.");
}

/// A property that is only read.
template <class Function>
void property(py::handle cls, const char* name, Function&& function, const char* text) {
  const auto type = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyProperty_Type));
  py::setattr(cls, name,
              type(py::cpp_function(std::forward<Function>(function), py::is_method(cls)), py::none(),
                   py::none(), text));
}

}  // namespace tally::python

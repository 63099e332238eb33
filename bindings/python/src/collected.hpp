#pragma once

#include "python.hpp"

namespace tally::python {

/// What the garbage collector calls for an object whose `T` holds objects of Python, through which it may refer to itself.
/// `T` has visit(visitproc, void*) and forget_objects().
template <class T>
struct Collected {
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    const T* own = contents(self);
    return own == nullptr ? 0 : own->visit(visit, arg);
  }
  static int clear(PyObject* self) {
    if (T* own = contents(self)) own->forget_objects();
    return 0;
  }
  /// For py::custom_type_setup.
  static void setup(PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = traverse;
    type->ht_type.tp_clear = clear;
  }

 private:
  /// Null before the constructor ends, when the collector may run already.
  static T* contents(PyObject* self) {
    auto found = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
    return found.holder_constructed() ? static_cast<T*>(found.value_ptr()) : nullptr;
  }
};

}  // namespace tally::python

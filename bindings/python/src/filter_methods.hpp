#pragma once

#include "python.hpp"
#include "tally/shapes/filter_kind.hpp"

// Groups of methods of filters and sketches, for the classes of the kinds that have them.

namespace tally::python {

/// may_contain, may_contain_batch. `in` is a slot of the type: contains_slot.
void define_lookups(py::handle cls);
int contains_slot(PyObject* filter, PyObject* key) noexcept;

/// count, count_batch, at_least, at_least_batch.
void define_counts(py::handle cls);

/// estimate, estimate_batch, bound and what else only a sketch has.
void define_sketch(py::handle cls);

/// insert and insert_batch, with the results that the kind gives; test_and_insert.
void define_inserts(py::handle cls, const KindTraits& kind);

/// remove, remove_batch.
void define_removals(py::handle cls);

/// merge and the operators that the kind has, statistics, copies, files, repr.
void define_whole(py::handle cls, const KindTraits& kind);
void define_common(py::handle cls);

}  // namespace tally::python

#pragma once

#include "python.hpp"
#include "streams_shared.hpp"

// What the three classes of streams have in common.

namespace tally::python {

void bind_threshold_stream(py::module_& module);
void bind_sum_stream(py::module_& module);
void bind_top_stream(py::module_& module);

/// States, pickling and the seed.
template <class Own>
void define_state(py::handle cls);

/// The docstring of __init__, where inspect.signature reads that of a class: of "Class(a, b)", "__init__(self, a, b)".
std::string init_documentation(std::string_view signature_of_class);

/// (positions, counts) of a batch.
py::tuple arrays_of_reports(const ReachedKeys& reports);
/// The count of one key that was added, or None.
py::object count_of_report(const ReachedKeys& reports);

/// Room for the reports of a part with this number of keys, so that none is lost for lack of memory.
void make_room(ReachedKeys& reports, std::size_t num_keys);
/// Appends the reports of a part of a batch; needs no memory after make_room.
void append_reports(ReachedKeys& reports, std::span<const ReachedKey> of_part, std::size_t first);

py::object float_or_none(const std::optional<double>& number);
/// "1,234,567".
std::string grouped(std::uint64_t number);
/// "1e-05", or "0.0123".
std::string short_number(double number);

}  // namespace tally::python

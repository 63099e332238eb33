#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "python.hpp"
#include "tally/theory.hpp"

// What formulas take and return beside numbers, from and to tally/_theory_records.py.

namespace tally::python {

template <>
struct Argument<theory::CountHistogram> {
  static theory::CountHistogram of(py::handle value, const char* field);
};
template <>
struct Argument<theory::DLeftLoads> {
  static theory::DLeftLoads of(py::handle value, const char* field);
};
template <>
struct Argument<theory::OccupiedPositions> {
  static theory::OccupiedPositions of(py::handle value, const char* field);
};
template <>
struct Argument<theory::DirectoryChange> {
  static theory::DirectoryChange of(py::handle value, const char* field);
};
template <>
struct Argument<theory::SendLimits> {
  static theory::SendLimits of(py::handle value, const char* field);
};
template <>
struct Argument<theory::DoubleHashing> {
  static theory::DoubleHashing of(py::handle value, const char* field);
};
/// A sequence of numbers.
template <>
struct Argument<std::span<const double>> {
  static std::vector<double> of(py::handle value, const char* field);
};
/// Pairs (count, number of keys).
template <>
struct Argument<std::span<const theory::RepeatedKeys>> {
  static std::vector<theory::RepeatedKeys> of(py::handle value, const char* field);
};
template <>
struct Argument<std::vector<std::pair<std::uint64_t, double>>> {
  static std::vector<std::pair<std::uint64_t, double>> of(py::handle value, const char* field);
};

inline double to_python(double value) { return value; }
inline std::uint64_t to_python(std::uint64_t value) { return value; }
inline std::uint32_t to_python(std::uint32_t value) { return value; }
/// An array of numpy.
py::object to_python(const std::vector<double>& values);
py::object to_python(const theory::CountHistogram& histogram);
py::object to_python(const theory::ProbabilityInterval& interval);
py::object to_python(const theory::CountInterval& interval);
py::object to_python(const theory::DLeftLoads& loads);
py::object to_python(const theory::DLeftExpectedOverflows& expected);
py::object to_python(const theory::DLeftMovesLimit& limit);
py::object to_python(const theory::DistinctKeysEstimate& estimate);
py::object to_python(const theory::SimilarityEstimate& estimate);
py::object to_python(const theory::Staleness& staleness);

}  // namespace tally::python

#include "theory_values.hpp"

#include <pybind11/numpy.h>

#include <array>

#include "array_of.hpp"
#include "guard.hpp"

namespace tally::python {
namespace {

template <class... Fields>
py::object theory_record(const char* name, Fields&&... fields) {
  return call_python(py::module_::import("tally._theory_records").attr(name),
                     py::make_tuple(std::forward<Fields>(fields)...));
}

void require_theory_record(py::handle value, const char* field, const char* name) {
  if (!py::isinstance(value, py::module_::import("tally._theory_records").attr(name)))
    throw_type_error(field, value, std::string("a tally.theory.") + name);
}

/// Calls use(item, index) for each item of an iterable.
template <class Use>
void each_item(py::handle items, const char* field, const char* rule, Use use) {
  const bool is_iterable = PyObject_HasAttrString(items.ptr(), "__iter__") != 0;
  if (!is_iterable || PyUnicode_Check(items.ptr())) throw_type_error(field, items, rule);
  std::size_t index = 0;
  for (const py::handle item : py::iter(items)) use(item, index++);
}

std::string item_of(const std::string& field, std::size_t index) {
  return field + "[" + std::to_string(index) + "]";
}

std::vector<double> numbers_of(py::handle values, const char* field) {
  std::vector<double> numbers;
  each_item(values, field, "a sequence of numbers",
            [&](py::handle value, std::size_t) { numbers.push_back(real_number(value, field)); });
  return numbers;
}

double field_of(py::handle record, const char* field) { return real_number(record.attr(field), field); }

/// Calls use(first, second, name) for each pair, with the name of the pair in errors.
template <class Use>
void each_pair(py::handle pairs, const char* field, Use use) {
  each_item(pairs, field, "pairs of two numbers", [&](py::handle pair, std::size_t index) {
    const std::string name = item_of(field, index);
    if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2)
      throw_type_error(name, pair, "a tuple of two numbers");
    use(PyTuple_GET_ITEM(pair.ptr(), 0), PyTuple_GET_ITEM(pair.ptr(), 1), name);
  });
}

constexpr auto double_hashing_names =
    std::to_array<std::string_view>({"plain", "quadratic", "cubic", "triple", "partition"});

}  // namespace

theory::CountHistogram Argument<theory::CountHistogram>::of(py::handle value, const char* field) {
  require_theory_record(value, field, "CountHistogram");
  return {numbers_of(value.attr("keys_with_count"), "keys_with_count"), field_of(value, "keys_beyond"),
          field_of(value, "insertions_beyond")};
}

theory::DLeftLoads Argument<theory::DLeftLoads>::of(py::handle value, const char* field) {
  require_theory_record(value, field, "DLeftLoads");
  theory::DLeftLoads loads{field_of(value, "average_load"), {}};
  each_item(value.attr("subtables"), "subtables", "a sequence of sequences of numbers",
            [&](py::handle subtable, std::size_t) {
              loads.subtables.push_back(numbers_of(subtable, "subtables"));
            });
  if (loads.subtables.empty() || loads.subtables.size() > 8)
    throw_value_error("subtables", value.attr("subtables"),
                      "those of 1 to 8 subtables, as dleft_loads returns");
  return loads;
}

theory::OccupiedPositions Argument<theory::OccupiedPositions>::of(py::handle value, const char* field) {
  require_theory_record(value, field, "OccupiedPositions");
  return {whole_number(value.attr("a"), "a"), whole_number(value.attr("b"), "b"),
          whole_number(value.attr("either"), "either")};
}

theory::DirectoryChange Argument<theory::DirectoryChange>::of(py::handle value, const char* field) {
  require_theory_record(value, field, "DirectoryChange");
  return {field_of(value, "num_keys"),           field_of(value, "insertion_rate"),
          field_of(value, "removal_rate"),       truth(value.attr("evictions"), "evictions"),
          field_of(value, "new_key_popularity"), field_of(value, "removed_key_popularity")};
}

theory::SendLimits Argument<theory::SendLimits>::of(py::handle value, const char* field) {
  require_theory_record(value, field, "SendLimits");
  return {field_of(value, "new_share"),    field_of(value, "interval"),         field_of(value, "max_bytes"),
          field_of(value, "header_bytes"), field_of(value, "bytes_per_change"), field_of(value, "delay")};
}

std::vector<double> Argument<std::span<const double>>::of(py::handle value, const char* field) {
  return numbers_of(value, field);
}

theory::DoubleHashing Argument<theory::DoubleHashing>::of(py::handle value, const char* field) {
  const std::string name = text(value, field);
  for (std::size_t i = 0; i < double_hashing_names.size(); ++i)
    if (double_hashing_names[i] == name) return static_cast<theory::DoubleHashing>(i);
  throw_value_error(field, value, "'plain', 'quadratic', 'cubic', 'triple' or 'partition'");
}

std::vector<theory::RepeatedKeys> Argument<std::span<const theory::RepeatedKeys>>::of(py::handle value,
                                                                                      const char* field) {
  std::vector<theory::RepeatedKeys> groups;
  each_pair(value, field, [&](py::handle count, py::handle num_keys, const std::string& name) {
    groups.push_back(
        {whole_number(count, item_of(name, 0).c_str()), whole_number(num_keys, item_of(name, 1).c_str())});
  });
  return groups;
}

std::vector<std::pair<std::uint64_t, double>> Argument<std::vector<std::pair<std::uint64_t, double>>>::of(
    py::handle value, const char* field) {
  std::vector<std::pair<std::uint64_t, double>> pairs;
  each_pair(value, field, [&](py::handle count, py::handle num_keys, const std::string& name) {
    pairs.emplace_back(whole_number(count, item_of(name, 0).c_str()),
                       real_number(num_keys, item_of(name, 1).c_str()));
  });
  return pairs;
}

py::object to_python(const std::vector<double>& values) { return array_of(std::span(values)); }

py::object to_python(const theory::CountHistogram& histogram) {
  return theory_record("CountHistogram", to_python(histogram.keys_with_count), histogram.keys_beyond,
                       histogram.insertions_beyond);
}

py::object to_python(const theory::ProbabilityInterval& interval) {
  return theory_record("ProbabilityInterval", interval.low, interval.high);
}

py::object to_python(const theory::CountInterval& interval) {
  return theory_record("CountInterval", interval.low, interval.high);
}

py::object to_python(const theory::DLeftLoads& loads) {
  py::list subtables;
  for (const std::vector<double>& subtable : loads.subtables) subtables.append(to_python(subtable));
  return theory_record("DLeftLoads", loads.average_load, subtables);
}

py::object to_python(const theory::DLeftExpectedOverflows& expected) {
  return theory_record("DLeftExpectedOverflows", expected.filling, expected.churning);
}

py::object to_python(const theory::DLeftMovesLimit& limit) {
  return theory_record("DLeftMovesLimit", limit.full_share, limit.moves_probability, limit.room_probability);
}

py::object to_python(const theory::DistinctKeysEstimate& estimate) {
  return theory_record("DistinctKeysEstimate", estimate.num_keys, estimate.standard_error);
}

py::object to_python(const theory::SimilarityEstimate& estimate) {
  const auto of = [](const theory::Estimate& own) {
    return theory_record("Estimate", own.value, own.standard_error);
  };
  return theory_record("SimilarityEstimate", of(estimate.num_keys_a), of(estimate.num_keys_b),
                       of(estimate.union_size), of(estimate.intersection_size), of(estimate.jaccard),
                       of(estimate.containment_a), of(estimate.containment_b));
}

py::object to_python(const theory::Staleness& staleness) {
  return theory_record("Staleness", staleness.interval, staleness.unknown_keys, staleness.stale_keys,
                       staleness.stale_miss_share, staleness.stale_hit_share, staleness.bytes_rate);
}

}  // namespace tally::python

#include "shapes.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "keys.hpp"
#include "records.hpp"
#include "tally/hashing/scheme_list.hpp"

namespace tally::python {
namespace {

constexpr std::array dleft_moves = {DLeftMoves::none, DLeftMoves::first_subtable, DLeftMoves::search};

// The fields of each shape, by the names that C++ and Python share.

template <class Shape, class Use>
void each_field(Shape& shape, Use use) {
  using Plain = std::remove_const_t<Shape>;
  if constexpr (std::is_same_v<Plain, BloomShape> || std::is_same_v<Plain, BlockedBloomShape>) {
    use("num_bits", shape.num_bits);
    use("num_hashes", shape.num_hashes);
  } else if constexpr (std::is_same_v<Plain, CountingBloomShape> ||
                       std::is_same_v<Plain, BlockedCountingBloomShape>) {
    use("num_counters", shape.num_counters);
    use("num_hashes", shape.num_hashes);
    use("counter_bits", shape.counter_bits);
    use("max_threshold", shape.max_threshold);
  } else if constexpr (std::is_same_v<Plain, ThresholdShape>) {
    use("num_counters", shape.num_counters);
    use("num_hashes", shape.num_hashes);
    use("threshold", shape.threshold);
    use("update", shape.update);
  } else if constexpr (std::is_same_v<Plain, DLeftShape>) {
    use("buckets_per_subtable", shape.buckets_per_subtable);
    use("num_subtables", shape.num_subtables);
    use("cells_per_bucket", shape.cells_per_bucket);
    use("remainder_bits", shape.remainder_bits);
    use("counter_bits", shape.counter_bits);
    use("least_remainder_bits", shape.least_remainder_bits);
    use("num_doublings", shape.num_doublings);
    use("spill_capacity", shape.spill_capacity);
    use("moves", shape.moves);
    use("grows", shape.grows);
  } else if constexpr (std::is_same_v<Plain, CompactDLeftShape>) {
    use("num_lines_per_subtable", shape.num_lines_per_subtable);
    use("remainder_bits", shape.remainder_bits);
    use("spill_capacity", shape.spill_capacity);
    use("moves", shape.moves);
  } else {
    use("width", shape.width);
    use("depth", shape.depth);
    use("num_copies", shape.num_copies);
    use("counter_bits", shape.counter_bits);
    use("update", shape.update);
  }
}

template <class Value>
py::object value_to_python(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return py::str(std::string(name_of(value)));
  } else {
    return py::cast(value);
  }
}

template <class Value>
void value_from(py::handle from, const char* field, Value& value) {
  if constexpr (std::is_same_v<Value, CounterUpdate>) {
    value = named_value(from, field, counter_updates);
  } else if constexpr (std::is_same_v<Value, DLeftMoves>) {
    value = named_value(from, field, dleft_moves);
  } else {
    value = argument<Value>(from, field);
  }
}

// By the order of the variant of FilterShape.
constexpr std::array<const char*, 8> class_names = {
    "BloomShape", "BlockedBloomShape", "CountingBloomShape", "ThresholdShape",
    "DLeftShape", "CountMinShape",     "CompactDLeftShape",  "BlockedCountingBloomShape"};

template <std::size_t index>
bool take_shape(const std::string& class_name, py::handle from, FilterShape& shape) {
  if (class_name != class_names[index]) return false;
  auto& own = shape.shape.emplace<index>();
  each_field(own, [&](const char* field, auto& value) { value_from(from.attr(field), field, value); });
  return true;
}

template <class Value>
void take(py::handle from, const char* field, Value& value) {
  value = argument<Value>(from, field);
}

struct RequirementField {
  const char* name;
  std::variant<std::optional<std::uint64_t> Requirements::*, std::optional<std::uint32_t> Requirements::*,
               std::optional<double> Requirements::*, double Requirements::*, bool Requirements::*>
      member;
};

constexpr auto fields = std::to_array<RequirementField>({
    {"num_keys", &Requirements::num_keys},
    {"false_positive_rate", &Requirements::false_positive_rate},
    {"memory_bytes", &Requirements::memory_bytes},
    {"threshold", &Requirements::threshold},
    {"needs_deletes", &Requirements::needs_deletes},
    {"needs_counts", &Requirements::needs_counts},
    {"true_count", &Requirements::true_count},
    {"num_insertions", &Requirements::num_insertions},
    {"num_frequent_keys", &Requirements::num_frequent_keys},
    {"keys_repeat", &Requirements::keys_repeat},
    {"lifetime_operations", &Requirements::lifetime_operations},
    {"epsilon", &Requirements::epsilon},
    {"failure_probability", &Requirements::failure_probability},
    {"max_moves_per_insertion", &Requirements::max_moves_per_insertion},
    {"total_count", &Requirements::total_count},
    {"counter_bits", &Requirements::counter_bits},
    {"max_saturation_probability", &Requirements::max_saturation_probability},
    {"max_doublings", &Requirements::max_doublings},
    {"num_subtables", &Requirements::num_subtables},
    {"prefers_speed", &Requirements::prefers_speed},
    {"keeps_rate_when_doubled", &Requirements::keeps_rate_when_doubled},
});

}  // namespace

py::object to_python(const FilterShape& shape) {
  return std::visit(
      [&](const auto& own) {
        py::dict fields;
        each_field(own,
                   [&](const char* field, const auto& value) { fields[field] = value_to_python(value); });
        fields["scheme"] = std::string(shape.scheme_name());
        return record_of(class_names[shape.shape.index()], fields);
      },
      shape.shape);
}

FilterShape shape_from(py::handle from) {
  if (!py::isinstance(from, in_records("Shape")))
    throw_type_error("shape", from, "a shape, such as tally.BloomShape");
  const std::string class_name = py::str(py::type::handle_of(from).attr("__name__"));
  FilterShape shape;
  const bool found = [&]<std::size_t... index>(std::index_sequence<index...>) {
    return (take_shape<index>(class_name, from, shape) || ...);
  }
  (std::make_index_sequence<class_names.size()>());
  if (!found) throw_type_error("shape", from, "a shape, such as tally.BloomShape");
  const std::string scheme = text(from.attr("scheme"), "scheme");
  shape.scheme_id = scheme_id_of(shape.kind(), scheme);
  return shape;
}

RequirementsArgument::RequirementsArgument(const char* function, const py::dict& arguments,
                                           std::span<const char* const> others) {
  std::optional<Numbers> counts;
  for (const auto& argument_of_name : arguments) {
    const std::string name = py::str(argument_of_name.first);
    const py::handle value = argument_of_name.second;
    const auto is = [&](std::string_view own) { return name == own; };
    if (std::ranges::any_of(others, is)) continue;
    if (value.is_none()) continue;
    is_empty = false;
    const auto field = std::ranges::find(fields, std::string_view(name), &RequirementField::name);
    if (field != fields.end()) {
      std::visit([&](auto member) { take(value, field->name, requirements.*member); }, field->member);
    } else if (is("scheme")) {
      scheme_ = text(value, "scheme");
      requirements.scheme = scheme_;
    } else if (is("update")) {
      requirements.update = named_value(value, "update", counter_updates);
    } else if (is("preference")) {
      requirements.preference = named_value(value, "preference", plan_preferences);
    } else if (is("counts")) {
      counts.emplace(value, std::nullopt, "counts");
    } else {
      throw py::type_error(std::string(function) + "() got an unexpected keyword argument '" + name + "'");
    }
  }
  if (counts) {
    requirements.histogram =
        histogram_of_counts(counts->span(), std::clamp<std::uint64_t>(requirements.theta(), 1000, 10'000));
  }
}

}  // namespace tally::python

#include "shape/shape.hpp"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "cli/flag_words.hpp"
#include "files/json_file.hpp"
#include "files/shape_json.hpp"
#include "shape/flags.hpp"
#include "shape/kinds.hpp"
#include "shape/scheme_option.hpp"
#include "tally/planner.hpp"

namespace tally::cli {
namespace {

Planned planned_shape(const ShapeOptions& options, const KindOfShape& kind, const NamedScheme& scheme,
                      const std::function<std::uint64_t()>& count_keys) {
  ShapeOptions counted = options;
  const bool is_sketch = traits_of(kind.kind).takes_weights;
  if (count_keys && !is_sketch && !options.wanted.num_keys && !options.wanted.memory_bytes)
    counted.wanted.num_keys = count_keys();
  Requirements wanted = kind.completed(counted);
  wanted.scheme = scheme.name;
  Planned planned{plan_shape(kind.kind, wanted)};
  if (is_sketch) return planned;
  const std::uint64_t num_keys =
      wanted.num_keys ? *wanted.num_keys : planned_num_keys(planned.shape, *wanted.false_positive_rate);
  planned.num_keys =
      std::ldexp(static_cast<double>(num_keys), static_cast<int>(wanted.max_doublings.value_or(0)));
  return planned;
}

}  // namespace

Planned shape_of(const ShapeOptions& options, const std::function<std::uint64_t()>& count_keys) {
  const FilterKind kind = options.kind_or_default();
  refuse_flags_of_other_kinds(options, kind);
  const KindOfShape& own = kind_of_shape(kind);
  const NamedScheme scheme = scheme_for(kind, options.scheme);
  std::optional<FilterShape> exact = own.exact(options);
  if (!exact) return planned_shape(options, own, scheme, count_keys);
  exact->scheme_id = scheme.file_id;
  if (options.rounds_exact_shape) return {round_to_scheme(*exact, Rounding::down)};
  check_shape(*exact);
  return {*exact};
}

FilterShape shape_in_file(const std::string& path, const std::string& kind) {
  const Json json = read_json(path, "--shape");
  try {
    return shape_from_json(json, kind);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--shape: '{}': {}", path, without_structure(error.what())));
  }
}

}  // namespace tally::cli

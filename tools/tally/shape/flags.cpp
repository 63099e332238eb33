#include "shape/flags.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "shape/kinds.hpp"
#include "text/or_list.hpp"

namespace tally::cli {
namespace {

/// Whether a flag plans a shape or is part of an exact one.
enum class Use { plan, shape, both };

struct Flag {
  std::string_view name;
  FlagGroup group;
  Use use;
  bool (*is_given)(const ShapeOptions&);
  std::string_view note = "";  ///< added to the message for kinds that do not have the flag
};

using Options = const ShapeOptions&;

// The message names the first given flag that the kind does not have.
constexpr Flag flags[] = {
    {"--threshold", threshold_flag, Use::both, [](Options o) { return o.wanted.threshold.has_value(); }},
    {"--counter-bits", counter_bits_flag, Use::both,
     [](Options o) { return o.wanted.counter_bits.has_value(); },
     " (in a threshold filter the width follows from --threshold)"},
    {"--update", update_flag, Use::both, [](Options o) { return o.wanted.update.has_value(); }},
    {"--num-subtables", dleft_flags, Use::both, [](Options o) { return o.wanted.num_subtables.has_value(); }},
    {"--buckets-per-subtable", dleft_flags, Use::shape,
     [](Options o) { return o.dleft.buckets_per_subtable.has_value(); }},
    {"--cells-per-bucket", dleft_flags, Use::shape,
     [](Options o) { return o.dleft.cells_per_bucket.has_value(); }},
    {"--lines-per-subtable", lines_flag, Use::shape,
     [](Options o) { return o.dleft.lines_per_subtable.has_value(); }},
    {"--remainder-bits", cells_flags, Use::shape,
     [](Options o) { return o.dleft.remainder_bits.has_value(); }},
    {"--spill-capacity", cells_flags, Use::shape,
     [](Options o) { return o.dleft.spill_capacity.has_value(); }},
    {"--moves", cells_flags, Use::shape, [](Options o) { return !o.dleft.moves.empty(); }},
    {"--frequent-keys", dleft_flags, Use::plan,
     [](Options o) { return o.wanted.num_frequent_keys.has_value(); }},
    {"--unique-keys", cells_flags, Use::plan, [](Options o) { return !o.wanted.keys_repeat; }},
    {"--lifetime-operations", dleft_flags, Use::plan,
     [](Options o) { return o.wanted.lifetime_operations.has_value(); }},
    {"--failure-probability", failure_flag, Use::plan,
     [](Options o) { return o.wanted.failure_probability.has_value(); }},
    {"--max-moves", dleft_flags, Use::plan,
     [](Options o) { return o.wanted.max_moves_per_insertion.has_value(); }},
    {"--max-doublings", dleft_flags, Use::both, [](Options o) { return o.wanted.max_doublings.has_value(); }},
    {"--slow-cells", dleft_flags, Use::plan, [](Options o) { return !o.wanted.prefers_speed; }},
    {"--sum", weights_flag, Use::both, [](Options o) { return o.has_weights; }},
    {"--epsilon", sketch_flags, Use::plan, [](Options o) { return o.wanted.epsilon.has_value(); }},
    {"--total-count", sketch_flags, Use::plan, [](Options o) { return o.wanted.total_count.has_value(); }},
    {"--width", sketch_flags, Use::shape, [](Options o) { return o.count_min.width.has_value(); }},
    {"--depth", sketch_flags, Use::shape, [](Options o) { return o.count_min.depth.has_value(); }},
    {"--copies", sketch_flags, Use::shape, [](Options o) { return o.count_min.num_copies.has_value(); }},
};

std::string first_given(const ShapeOptions& options, auto is_wanted) {
  for (const Flag& flag : flags)
    if (is_wanted(flag) && flag.is_given(options)) return std::string(flag.name);
  return "";
}

}  // namespace

std::string kinds_with(FlagGroup group) {
  std::vector<std::string> names;
  for (const KindTraits& kind : all_kinds())
    if ((kind_of_shape(kind.kind).flag_groups & group) != 0) names.emplace_back(kind.name);
  return or_list(std::move(names));
}

std::string flag_given(const ShapeOptions& options, FlagGroup group) {
  return first_given(options, [&](const Flag& flag) { return flag.group == group; });
}

std::string dleft_plan_flag(const ShapeOptions& options) {
  return first_given(options, [](const Flag& flag) {
    return (flag.group & (dleft_flags | cells_flags | failure_flag)) != 0 && flag.use == Use::plan;
  });
}

std::string dleft_shape_flag(const ShapeOptions& options) {
  return first_given(options, [](const Flag& flag) {
    return (flag.group & (dleft_flags | cells_flags | lines_flag)) != 0 && flag.use == Use::shape;
  });
}

void refuse_flags_of_other_kinds(const ShapeOptions& options, FilterKind kind) {
  const unsigned groups = kind_of_shape(kind).flag_groups;
  if (kind != FilterKind::dleft && options.wanted.counter_bits == 0u)
    throw std::invalid_argument("--counter-bits: '0' is too small; must be at least 1");
  for (const Flag& flag : flags) {
    if (!flag.is_given(options) || (groups & flag.group) != 0) continue;
    throw std::invalid_argument(fmt::format("{}: a {} filter does not have this option; use --kind {}{}",
                                            flag.name, name_of(kind), kinds_with(flag.group), flag.note));
  }
  if ((groups & positions_flags) != 0) return;
  std::vector<std::string_view> given;
  if (options.wanted.num_keys) given.push_back("--keys");
  if (options.wanted.false_positive_rate) given.push_back("--false-positive-rate");
  if (options.num_positions) given.push_back("--num-positions");
  if (options.num_hashes) given.push_back("--num-hashes");
  if (given.empty()) return;
  throw std::invalid_argument(fmt::format("{}: the size of a {} sketch does not depend on keys; give {}",
                                          fmt::join(given, ", "), name_of(kind), options.ways.than_keys));
}

}  // namespace tally::cli

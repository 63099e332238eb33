#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "cli/command_line.hpp"

#include "tally/planner/plan_dleft.hpp"
#include "tally/shapes/dleft.hpp"

// The flags of d-left filters, and what they say.

namespace tally::cli {

/// How one is planned. What is not given is left to the planner.
struct DLeftPlanOptions {
  std::optional<std::uint64_t> num_frequent_keys;
  bool unique_keys = false;
  std::optional<std::uint64_t> lifetime_operations;
  std::optional<double> failure_probability;
  std::optional<std::uint32_t> max_doublings;
  bool slow_cells = false;

  /// The name of a flag that was given; empty if there is none.
  std::string given() const;

  /// `Request` is a DLeftRequest or Requirements.
  template <class Request>
  void apply_to(Request& request) const {
    request.num_frequent_keys = num_frequent_keys.value_or(0);
    request.keys_repeat = !unique_keys;
    request.lifetime_operations = lifetime_operations;
    request.failure_probability = failure_probability.value_or(default_failure_probability);
    request.max_doublings = max_doublings.value_or(0);
    request.prefers_speed = !slow_cells;
  }
};
/// They stand in one group of the help.
std::vector<Option> add_dleft_plan_options(CommandLine app, DLeftPlanOptions& options);

/// The shape, spelled out. num_subtables alone is a wish that the planner heeds.
struct DLeftShapeOptions {
  std::optional<std::uint32_t> num_subtables;
  std::optional<std::uint64_t> buckets_per_subtable;
  std::optional<std::uint32_t> cells_per_bucket;
  std::optional<std::uint32_t> remainder_bits;
  std::optional<std::uint64_t> spill_capacity;
  std::string moves;

  /// The name of a flag of an exact shape that was given; empty if there is none.
  std::string given() const;

  /// Throws std::invalid_argument for a shape that is not whole or not possible.
  DLeftShape shape(std::optional<std::uint32_t> counter_bits, std::uint32_t max_doublings) const;
};
std::vector<Option> add_dleft_shape_options(CommandLine app, DLeftShapeOptions& options);

}  // namespace tally::cli

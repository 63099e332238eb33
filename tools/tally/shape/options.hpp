#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "tally/planner/requirements.hpp"
#include "tally/shapes/counter_update.hpp"
#include "tally/shapes/filter_kind.hpp"

namespace tally::cli {

/// The exact shape of a d-left filter; its num_subtables, counter_bits and max_doublings are in the requirements. Or
/// that of a compact one, which has lines_per_subtable and the last three.
struct ExactDLeft {
  std::optional<std::uint64_t> lines_per_subtable;
  std::optional<std::uint64_t> buckets_per_subtable;
  std::optional<std::uint32_t> cells_per_bucket;
  std::optional<std::uint32_t> remainder_bits;
  std::optional<std::uint64_t> spill_capacity;
  std::string moves;
};

/// The exact shape of a sketch; its counter_bits and update are in the requirements.
struct ExactCountMin {
  std::optional<std::uint64_t> width;
  std::optional<std::uint32_t> depth;
  std::optional<std::uint32_t> num_copies;

  bool is_given() const { return width || depth || num_copies; }
};

/// The ends of error messages: other flags of the command that give a shape.
struct OtherWays {
  std::string_view than_one_of_two =
      ", or --keys or --memory instead";  ///< --num-positions without --num-hashes
  std::string_view than_positions =
      "the options of an exact dleft shape, or --keys, or --shape";  ///< of dleft filters
  std::string_view than_keys =
      "--epsilon and --failure-probability, or --memory, or --width and --depth";  ///< of sketches
};

/// The flags of a command that give a shape: requirements for a plan, or the exact shape. Every command that needs a
/// shape fills one of these, and shape_of returns the shape.
struct ShapeOptions {
  std::string kind = {};    ///< --kind; default: bloom, or threshold if the threshold is above 1
  std::string scheme = {};  ///< --scheme; default: that of the kind
  Requirements wanted = {};
  bool has_weights = false;  ///< --sum was given

  std::optional<std::uint64_t> num_positions = {};
  std::optional<std::uint32_t> num_hashes = {};
  ExactDLeft dleft = {};
  ExactCountMin count_min = {};

  double default_rate = 0.01;       ///< if only keys or only memory are given
  bool rounds_exact_shape = false;  ///< down to what the scheme can use; else such a shape is an error
  OtherWays ways = {};

  /// Throws std::invalid_argument for a name that no kind has.
  FilterKind kind_or_default() const {
    if (!kind.empty()) return filter_kind(kind);
    return wanted.theta() > 1 ? FilterKind::threshold : FilterKind::bloom;
  }
};

/// --kind, with all kinds.
Option add_kind(CommandLine app, std::string& kind, const std::string& description);

/// --update: plain or conservative.
Option add_update(CommandLine app, std::optional<CounterUpdate>& update, const std::string& description);

}  // namespace tally::cli

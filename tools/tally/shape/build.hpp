#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "input/key_reader.hpp"
#include "input/records.hpp"
#include "shape/count_min_options.hpp"
#include "shape/dleft_options.hpp"
#include "tally/shapes/filter.hpp"

namespace tally::cli {

/// What `tally build` is told.
struct BuildOptions {
  std::string output;
  InputOptions input;
  RecordOptions records;

  std::string kind;
  std::optional<std::uint64_t> num_keys;
  std::optional<double> false_positive_rate;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> threshold;
  std::string update;

  std::optional<std::uint64_t> num_positions;
  std::optional<std::uint32_t> num_hashes;
  std::optional<std::uint32_t> counter_bits;
  DLeftPlanOptions dleft_plan;
  DLeftShapeOptions dleft_shape;
  CountMinOptions count_min;
  std::string like;
  bool verify_like = true;
  std::string shape_file;

  std::string scheme;
  HasherOptions hasher;
  bool force = false;
  bool json = false;
  bool quiet = false;

  bool is_planned() const { return num_keys || false_positive_rate || memory_bytes; }
  /// The name of a flag that was given and is of d-left filters alone; empty if there is none.
  std::string dleft_flag(FilterKind of_kind) const {
    if (dleft_shape.num_subtables) return "--num-subtables";
    if (!dleft_shape.given().empty()) return dleft_shape.given();
    DLeftPlanOptions own = dleft_plan;
    if (of_kind == FilterKind::count_min) own.failure_probability.reset();  // it has that, too
    return own.given();
  }
  CounterUpdate counter_update() const {
    return update == "conservative" ? CounterUpdate::conservative : CounterUpdate::plain;
  }
};

/// What is built, and for how many keys (0: not planned for a number).
struct Planned {
  FilterShape shape;
  double num_keys = 0;
};

/// The shape that the options plan or spell out, without --like. Where they say neither how many keys nor how much
/// memory, the input is read once to count its distinct keys. Throws std::invalid_argument that names the flag for what
/// is no shape or contradicts itself, and as RewindableInput and refuse_if_stopped do.
Planned shape_of(const BuildOptions& options);

}  // namespace tally::cli

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "cli/command_line.hpp"

#include "tally/shapes/filter.hpp"

// The flags of Count-Min sketches, and what they say.

namespace tally::cli {

/// What sketches share with other kinds, as it was given.
struct SharedSketchOptions {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> failure_probability;
  std::optional<std::uint32_t> counter_bits;
  CounterUpdate update = CounterUpdate::plain;
};

/// A sketch planned from its error, or spelled out.
struct CountMinOptions {
  std::optional<double> epsilon;
  std::optional<std::uint64_t> total_count;
  std::optional<std::uint64_t> width;
  std::optional<std::uint32_t> depth;
  std::optional<std::uint32_t> num_copies;

  /// The name of a flag that was given; empty if there is none.
  std::string given() const;
  bool is_exact() const { return width || depth || num_copies; }

  /// What is not given is 1% for the failure probability and, without a memory, 0.0001 for epsilon.
  /// Throws std::invalid_argument for what contradicts itself and for what is out of range.
  FilterShape shape(std::uint16_t row_scheme_id, const SharedSketchOptions& shared) const;
};

/// They stand in one group of the help. `how_often_more` says how often a count may be off by more than --epsilon.
std::vector<Option> add_count_min_options(
    CommandLine app, CountMinOptions& options,
    const std::string& how_often_more = "--failure-probability says how often it may be more");

}  // namespace tally::cli

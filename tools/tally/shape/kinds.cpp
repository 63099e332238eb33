#include "shape/kinds.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "shape/flags.hpp"

namespace tally::cli {
namespace {

/// Whether the flags give the numbers of positions and hashes.
bool has_positions(const ShapeOptions& options) {
  if (!options.num_positions && !options.num_hashes) return false;
  if (options.num_positions && options.num_hashes) return true;
  throw std::invalid_argument(fmt::format(
      "--num-positions and --num-hashes define a shape together; give both{}", options.ways.than_one_of_two));
}

template <class Shape>
std::optional<FilterShape> exact_bloom(const ShapeOptions& options) {
  if (!has_positions(options)) return std::nullopt;
  return FilterShape{Shape{.num_bits = *options.num_positions, .num_hashes = *options.num_hashes}};
}

template <class Shape>
std::optional<FilterShape> exact_counting_bloom(const ShapeOptions& options) {
  if (!has_positions(options)) return std::nullopt;
  return FilterShape{Shape{.num_counters = *options.num_positions,
                           .num_hashes = *options.num_hashes,
                           .counter_bits = options.wanted.counter_bits.value_or(4),
                           .max_threshold = options.wanted.theta()}};
}

std::optional<FilterShape> exact_threshold(const ShapeOptions& options) {
  if (!has_positions(options)) return std::nullopt;
  return FilterShape{ThresholdShape{.num_counters = *options.num_positions,
                                    .num_hashes = *options.num_hashes,
                                    .threshold = options.wanted.threshold.value_or(0),
                                    .update = options.wanted.update.value_or(CounterUpdate::plain)}};
}

constexpr KindOfShape kinds[] = {
    {FilterKind::bloom, positions_flags, exact_bloom<BloomShape>, completed_filter},
    {FilterKind::blocked_bloom, positions_flags, exact_bloom<BlockedBloomShape>, completed_filter},
    {FilterKind::counting_bloom, positions_flags | threshold_flag | counter_bits_flag,
     exact_counting_bloom<CountingBloomShape>, completed_filter},
    {FilterKind::threshold, positions_flags | threshold_flag | update_flag, exact_threshold,
     completed_filter},
    {FilterKind::dleft, positions_flags | counter_bits_flag | failure_flag | dleft_flags | cells_flags,
     exact_dleft, completed_filter},
    {FilterKind::count_min, counter_bits_flag | update_flag | failure_flag | weights_flag | sketch_flags,
     exact_count_min, completed_count_min},
    {FilterKind::compact_dleft, positions_flags | cells_flags | lines_flag, exact_compact, completed_compact},
    {FilterKind::blocked_counting_bloom, positions_flags | threshold_flag | counter_bits_flag,
     exact_counting_bloom<BlockedCountingBloomShape>, completed_filter},
};

static_assert(std::size(kinds) == num_kinds);

}  // namespace

Requirements completed_filter(const ShapeOptions& options) {
  Requirements wanted = options.wanted;
  if (wanted.num_keys && wanted.memory_bytes && wanted.false_positive_rate) {
    throw std::invalid_argument(
        "--false-positive-rate: it follows from --keys and --memory; leave one of the three out");
  }
  if (!wanted.false_positive_rate && !(wanted.num_keys && wanted.memory_bytes))
    wanted.false_positive_rate = options.default_rate;
  return wanted;
}

const KindOfShape& kind_of_shape(FilterKind kind) {
  return *std::ranges::find(kinds, kind, &KindOfShape::kind);
}

}  // namespace tally::cli

#include "tally/sketches/count_min_shape.hpp"

#include <algorithm>
#include <numbers>
#include <string>

#include "tally/detail/checked_math.hpp"
#include "tally/detail/parameter_error.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/theory/count_min.hpp"

namespace tally {
namespace {

constexpr std::string_view structure = "CountMinSketch";
constexpr std::uint64_t unknown = ~std::uint64_t{0};

}  // namespace

std::uint64_t num_bytes(const CountMinShape& shape) noexcept {
  return 8 * CounterArray::num_words(shape.num_counters(), shape.counter_bits);
}

CountMinBound bound_of(const CountMinShape& shape, RowLaw law) {
  const double e_by_width = std::numbers::e / static_cast<double>(shape.width);
  if (law == RowLaw::independent) {
    return {e_by_width, theory::count_min_failure_probability(shape.width, shape.num_rows(), e_by_width)};
  }
  return {2 * e_by_width, theory::count_min_two_hash_failure_probability(shape.width, shape.depth,
                                                                         2 * e_by_width, shape.num_copies)};
}

namespace detail {

void check_count_min_shape(const CountMinShape& shape, std::string_view scheme, RowLaw law,
                           std::uint64_t usable_below, std::uint64_t usable_above) {
  const auto require = [](bool good, std::string_view field, std::uint64_t value, const std::string& rule) {
    if (!good) throw_parameter_error(structure, field, std::to_string(value), rule);
  };
  require_in_range(structure, "width", shape.width, 1, max_num_positions);
  require_in_range(structure, "depth", shape.depth, 1, max_num_hashes);
  require_in_range(structure, "num_copies", shape.num_copies, 1, max_num_hashes);
  if (law == RowLaw::independent) {
    require(shape.num_copies == 1, "num_copies", shape.num_copies,
            "1 for the row scheme '" + std::string(scheme) + "'; take a larger depth");
  }
  require(shape.depth <= max_num_hashes / shape.num_copies, "depth", shape.depth,
          "1 to " + std::to_string(max_num_hashes / shape.num_copies) + " with num_copies " +
              std::to_string(shape.num_copies));
  if (usable_above != shape.width) {
    require(false, "width", shape.width,
            (usable_below == 0 ? "" : std::to_string(usable_below) + " or ") + std::to_string(usable_above) +
                " for the row scheme '" + std::string(scheme) + "'");
  }
  require(law != RowLaw::two_hash || shape.depth <= shape.width, "depth", shape.depth,
          "at most the width, " + std::to_string(shape.width) + ", for the row scheme '" +
              std::string(scheme) + "'");
  require(shape.width <= max_num_positions / shape.num_rows(), "width", shape.width,
          "1 to " + std::to_string(max_num_positions / shape.num_rows()) + " with " +
              std::to_string(shape.num_rows()) + " rows");
  require(shape.counter_bits >= 8 && CounterArray::is_width(shape.counter_bits), "counter_bits",
          shape.counter_bits, "8, 16, 32 or 64");
  require(shape.update == CounterUpdate::plain || shape.update == CounterUpdate::conservative, "update",
          static_cast<std::uint64_t>(shape.update), "0 (plain) or 1 (conservative)");
}

std::uint64_t share_of(double epsilon, std::uint64_t a, std::uint64_t b) noexcept {
  // Four roundings, each by 2^-53 at most.
  const double share = epsilon * static_cast<double>(a) * static_cast<double>(b) * (1 + 0x1p-50);
  return share < 0x1p64 ? static_cast<std::uint64_t>(share) : unknown;
}

CountEstimate estimate_of(Count count, CountMinBound bound, std::uint64_t total,
                          std::uint64_t rounding) noexcept {
  const std::uint64_t excess =
      total == unknown ? unknown : saturating_add(share_of(bound.epsilon, total), rounding);
  return {count.value, count.value - std::min(count.value, excess), count.saturated ? total : count.value,
          1 - bound.failure_probability, count.saturated};
}

FilterStatistics count_min_statistics(const CountMinShape& shape, const CounterArray& counters,
                                      std::uint64_t total_count) {
  const PositionSpace space{shape.num_counters(), shape.num_rows(),
                            CounterArray::positions_per_line(shape.counter_bits)};
  FilterStatistics statistics = storage_statistics(counters, PositionLayout::parts, space, 1);
  statistics.num_insertions = total_count;
  return statistics;
}

}  // namespace detail
}  // namespace tally

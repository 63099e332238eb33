#include "tally/shapes/count_min.hpp"

#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {
namespace {

constexpr std::string_view sketch_structure = "CountMinSketch";

}  // namespace

std::uint64_t num_bytes(const CountMinShape& shape) noexcept {
  return 8 * CounterArray::num_words(shape.num_counters(), shape.counter_bits);
}

namespace detail {

void check_count_min_shape(const CountMinShape& shape, std::string_view scheme, RowLaw law,
                           std::uint64_t usable_below, std::uint64_t usable_above) {
  const auto require = [](bool good, std::string_view field, std::uint64_t value, const std::string& rule) {
    if (!good) throw_parameter_error(sketch_structure, field, value, rule);
  };
  require_in_range(sketch_structure, "width", shape.width, 1, max_num_positions);
  require_in_range(sketch_structure, "depth", shape.depth, 1, max_num_hashes);
  require_in_range(sketch_structure, "num_copies", shape.num_copies, 1, max_num_hashes);
  if (law == RowLaw::independent) {
    require(shape.num_copies == 1, "num_copies", shape.num_copies,
            "1 for the row scheme '" + std::string(scheme) + "'; use a larger depth");
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

}  // namespace detail
}  // namespace tally

#include "tally/shapes/duplicate.hpp"

#include "tally/detail/parameter_error.hpp"

namespace tally {

std::uint64_t num_bytes(const DuplicateShape& shape) noexcept { return shape.num_bits / 8; }

PositionSpace position_space(const DuplicateShape& shape) noexcept {
  return {shape.num_bits, shape.num_hashes, DuplicateShape::bits_per_word};
}

void check_shape(const DuplicateShape& shape) {
  constexpr std::string_view structure = "SharedDuplicateFilter";
  detail::require_in_range(structure, "num_bits", shape.num_bits, DuplicateShape::bits_per_word,
                           max_num_positions);
  if (shape.num_bits % DuplicateShape::bits_per_word != 0)
    detail::throw_parameter_error(structure, "num_bits", shape.num_bits, "a multiple of 64");
  detail::require_in_range(structure, "num_hashes", shape.num_hashes, 1, DuplicateShape::max_num_hashes);
}

}  // namespace tally

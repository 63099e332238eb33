#include "tally/hashing/row_schemes.hpp"

#include "tally/hashing/double_schemes.hpp"

namespace tally {

std::uint64_t TwoHashRows::round_width(std::uint64_t width, Rounding rounding) {
  return PartitionDoubleScheme::round_positions({width, 1, 1}, rounding);
}

}  // namespace tally

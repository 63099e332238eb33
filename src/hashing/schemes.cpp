#include <boost/multiprecision/cpp_int.hpp>
#include <boost/multiprecision/miller_rabin.hpp>
#include <random>
#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/double_schemes.hpp"
#include "tally/hashing/hash_scheme.hpp"

namespace tally {
namespace {

// Below 2^56, with 40 rounds: wrong with probability under 4^-40 for any number, and always the same answer.
bool is_prime(std::uint64_t number) {
  if (number < 2) return false;
  std::mt19937 generator(1);
  return boost::multiprecision::miller_rabin_test(boost::multiprecision::uint128_t(number), 40, generator);
}

}  // namespace

std::uint64_t PartitionDoubleScheme::round_positions(PositionSpace space, Rounding rounding) {
  const std::uint64_t k = space.num_hashes;
  std::uint64_t part_size =
      space.num_positions / k + (rounding == Rounding::up && space.num_positions % k != 0);
  if (rounding == Rounding::up) {
    while (!is_prime(part_size)) ++part_size;
  } else {
    while (part_size >= 2 && !is_prime(part_size)) --part_size;
    if (part_size < 2) return 0;
  }
  return part_size * k;
}

namespace detail {

void check_position_space(std::string_view structure, std::string_view positions_field,
                          std::string_view scheme, PositionSpace space, std::uint32_t hashes_step,
                          std::uint64_t usable_below, std::uint64_t usable_above) {
  require_in_range(structure, "num_hashes", space.num_hashes, 1, max_num_hashes);
  if (space.num_hashes % hashes_step != 0) {
    throw_parameter_error(
        structure, "num_hashes", space.num_hashes,
        "a multiple of " + std::to_string(hashes_step) + " for the scheme '" + std::string(scheme) + "'");
  }
  require_in_range(structure, positions_field, space.num_positions, 1, max_num_positions);
  if (usable_above == space.num_positions) return;
  std::string rule;
  for (const std::uint64_t usable : {usable_below, usable_above}) {
    if (usable == 0 || usable > max_num_positions) continue;
    rule += (rule.empty() ? "" : " or ") + std::to_string(usable);
  }
  rule += " for the scheme '" + std::string(scheme) + "' with num_hashes " + std::to_string(space.num_hashes);
  throw_parameter_error(structure, positions_field, space.num_positions, rule);
}

}  // namespace detail
}  // namespace tally

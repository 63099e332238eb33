#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tally/hashing/scheme_list.hpp"
#include "types_of.hpp"

namespace tally::test {

using SchemeTypes = TypesOf<tally::AllSchemes>::type;

/// The scheme's name as a part of a test's name.
template <class Scheme>
std::string test_name_of() {
  std::string name(Scheme::name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// For TYPED_TEST_SUITE over schemes.
struct SchemeNames {
  template <class Scheme>
  static std::string GetName(int) {
    return test_name_of<Scheme>();
  }
};

/// All k positions of a digest, in order.
template <class Scheme>
std::vector<std::uint64_t> positions_of(PositionSpace space, Hash128 hash) {
  std::vector<std::uint64_t> positions;
  Scheme(space).all_positions(hash, [&](std::uint64_t position) {
    positions.push_back(position);
    return true;
  });
  return positions;
}

/// The least number of hashes from `num_hashes` up that the scheme can use.
template <class Scheme>
constexpr std::uint32_t usable_hashes(std::uint32_t num_hashes) {
  constexpr std::uint32_t step = num_hashes_step<Scheme>;
  return (num_hashes + step - 1) / step * step;
}

/// The nearest space from `num_positions` and `num_hashes` up that the scheme can use.
template <class Scheme>
PositionSpace usable_space(std::uint64_t num_positions, std::uint32_t num_hashes,
                           std::uint32_t per_line = 512) {
  PositionSpace space{num_positions, usable_hashes<Scheme>(num_hashes), per_line};
  space.num_positions = Scheme::round_positions(space, Rounding::up);
  return space;
}

}  // namespace tally::test

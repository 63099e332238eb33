#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tally/hashing/row_schemes.hpp"
#include "tally/shapes/count_min.hpp"
#include "types_of.hpp"

namespace tally::test {

using AllRowSchemes = TypesOf<RowSchemes>::type;

/// For TYPED_TEST_SUITE over row schemes.
struct RowSchemeNames {
  template <class Rows>
  static std::string GetName(int) {
    std::string name(Rows::name);
    std::ranges::replace(name, '-', '_');
    return name;
  }
};

/// A shape that the scheme can use, its width not below the one given, its copies 1 unless it has copies.
template <class Rows>
CountMinShape usable(CountMinShape shape) {
  shape.width = Rows::round_width(shape.width, Rounding::up);
  if (Rows::law == RowLaw::independent) {
    shape.depth = shape.num_rows();
    shape.num_copies = 1;
  } else {
    shape.width = std::max(shape.width, Rows::round_width(shape.depth, Rounding::up));
  }
  return shape;
}

/// A key's columns, row by row.
template <class Rows>
std::vector<std::uint64_t> columns_of(const RowSpace& space, Hash128 hash) {
  std::vector<std::uint64_t> columns;
  Rows(space).for_each_row(hash, [&](std::uint32_t, std::uint64_t column) { columns.push_back(column); });
  return columns;
}

}  // namespace tally::test

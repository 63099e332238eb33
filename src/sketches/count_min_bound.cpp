#include "tally/sketches/count_min_bound.hpp"

#include <numbers>

#include "tally/theory/count_min.hpp"

namespace tally {

CountMinBound bound_of(const CountMinShape& shape, RowLaw law) {
  const double e_by_width = std::numbers::e / static_cast<double>(shape.width);
  if (law == RowLaw::independent) {
    return {e_by_width, theory::count_min_failure_probability(shape.width, shape.num_rows(), e_by_width)};
  }
  return {2 * e_by_width, theory::count_min_two_hash_failure_probability(shape.width, shape.depth,
                                                                         2 * e_by_width, shape.num_copies)};
}

}  // namespace tally

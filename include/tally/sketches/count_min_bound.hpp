#pragma once

#include "tally/export.hpp"
#include "tally/hashing/row_scheme.hpp"
#include "tally/shapes/count_min.hpp"

namespace tally {

/// Pr(estimate > truth + epsilon total_count) <= failure_probability.
struct CountMinBound {
  double epsilon = 1;
  double failure_probability = 0;
};

/// The bound at the epsilon of the theorems: e / width and exp(-rows) for independent rows; 2 e / width and
/// Theorem 9.1 for two-hash rows. For any other epsilon see theory/count_min.hpp.
TALLY_EXPORT CountMinBound bound_of(const CountMinShape& shape, RowLaw law);

}  // namespace tally

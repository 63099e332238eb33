#pragma once

#include "tally/export.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// Bit i: whether counter i is above 0.
TALLY_EXPORT BitArray nonzero_bits(const CounterArray& counters);

}  // namespace tally

#pragma once

#include "tally/storage/bit_array.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally {

/// Bit i: whether counter i is above 0.
BitArray nonzero_bits(const CounterArray& counters);

}  // namespace tally

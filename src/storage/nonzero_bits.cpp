#include "tally/storage/nonzero_bits.hpp"

namespace tally {

BitArray nonzero_bits(const CounterArray& counters) {
  BitArray bits(counters.size());
  for (std::uint64_t i = 0; i < bits.size(); ++i) {
    if (counters.get(i) != 0) bits.set(i);
  }
  return bits;
}

}  // namespace tally

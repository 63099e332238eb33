#include "tally/storage/nonzero_bits.hpp"

#include "storage/counter_words.hpp"

namespace tally {

// Without a branch per counter: in a full filter, half of them are 0.
BitArray nonzero_bits(const CounterArray& counters) {
  BitArray bits(counters.size());
  const std::uint32_t counter_bits = counters.counter_bits();
  const std::uint32_t per_word = 64 / counter_bits;
  const std::uint64_t lowest = detail::lowest_bits(counter_bits);
  const std::uint64_t highest = lowest << (counter_bits - 1);
  const std::uint64_t others = highest - lowest;  // of each counter, all but its highest bit
  std::uint64_t* next = bits.line(0);
  std::uint64_t pending = 0;
  std::uint32_t num_pending = 0;
  for (const std::uint64_t word : counters.words()) {
    const std::uint64_t is_set = (((word & others) + others) | word) & highest;
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < per_word; ++i)
      found |= (is_set >> (i * counter_bits + counter_bits - 1) & 1) << i;
    pending |= found << num_pending;
    num_pending += per_word;
    if (num_pending < 64) continue;
    *next++ = pending;
    num_pending -= 64;
    pending = num_pending == 0 ? 0 : found >> (per_word - num_pending);
  }
  if (next != bits.words().data() + bits.words().size()) *next = pending;
  return bits;
}

}  // namespace tally

#include "tally/storage/nonzero_bits.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>

namespace tally::test {
namespace {

TEST(NonzeroBits, AreThoseOfTheCountersOfEveryWidth) {
  std::mt19937_64 random(1);
  for (const std::uint32_t counter_bits : {1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64}) {
    for (std::uint64_t num_counters = 1; num_counters < 300; ++num_counters) {
      CounterArray counters(num_counters, counter_bits);
      for (std::uint64_t i = 0; i < num_counters; ++i) {
        const std::uint64_t value = random() & counters.max();
        counters.set(i, random() % 2 == 0   ? 0
                        : random() % 2 == 0 ? value
                                            : std::uint64_t{1} << random() % counter_bits);
      }
      const BitArray bits = nonzero_bits(counters);
      ASSERT_EQ(bits.size(), num_counters);
      for (std::uint64_t i = 0; i < num_counters; ++i)
        ASSERT_EQ(bits.get(i), counters.get(i) != 0) << counter_bits;
      ASSERT_EQ(bits.num_set(0, num_counters),
                std::popcount(bits.words().back()) +
                    (num_counters > 64 ? bits.num_set(0, (num_counters - 1) / 64 * 64) : 0))
          << "bits after the last one";
    }
  }
}

}  // namespace
}  // namespace tally::test

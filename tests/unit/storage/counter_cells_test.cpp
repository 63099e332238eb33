#include "tally/storage/counter_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random.hpp"
#include "tally/storage/counter_array.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t size = 77;  // the last word is not full

class CounterCellsOfWidth : public testing::TestWithParam<std::uint32_t> {};

TEST_P(CounterCellsOfWidth, AreTheCountersOfTheArray) {
  Random random(1);
  CounterArray counters(size, GetParam());
  std::vector<std::uint64_t> twin(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    twin[i] = random.next() & counters.max();
    counters.set(i, twin[i]);
  }
  const CounterArray& unchanging = counters;
  with_cells(unchanging.words(), GetParam(), [&](auto cells) {
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(cells.get(i), twin[i]) << i;
  });
  with_cells(counters.words(), GetParam(), [&](auto cells) {
    EXPECT_EQ(cells.max, counters.max());
    for (std::uint64_t i = 0; i < size; ++i)
      cells.set(i, static_cast<decltype(cells.get(0))>(twin[size - 1 - i]));
  });
  for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(counters.get(i), twin[size - 1 - i]) << i;
}

TEST_P(CounterCellsOfWidth, AnAmountIsAddedUpToTheMaximumAndToNoOtherCounter) {
  Random random(2);
  CounterArray counters(size, GetParam());
  const std::uint64_t max = counters.max();
  std::vector<std::uint64_t> twin(size);
  with_cells(counters.words(), GetParam(), [&](auto cells) {
    for (std::uint64_t round = 0; round < 4 * size; ++round) {
      const std::uint64_t i = random.below(size);
      const std::uint64_t amounts[] = {max, random.next() & max, 0, 1, random.below(max / 16)};
      const std::uint64_t amount = amounts[random.below(5)];
      twin[i] = amount > max - twin[i] ? max : twin[i] + amount;
      ASSERT_EQ(cells.add(i, static_cast<decltype(cells.get(0))>(amount)), twin[i]);
    }
  });
  for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(counters.get(i), twin[i]) << i;
  EXPECT_LT(static_cast<std::size_t>(std::ranges::count(twin, max)), size);
  EXPECT_GT(std::ranges::count(twin, max), 0);
}

INSTANTIATE_TEST_SUITE_P(Widths, CounterCellsOfWidth, testing::Values(8, 16, 32, 64));

}  // namespace
}  // namespace tally::test

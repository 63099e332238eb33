#include "tally/storage/counter_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "support/expect_refused.hpp"
#include "support/random.hpp"

namespace tally {
namespace {

constexpr std::uint64_t largest_counter = ~std::uint64_t{0};

/// Every width, beside a twin that is a vector of 64-bit numbers.
class CounterArrayOfWidth : public testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint64_t size = 203;  // the last word is not full, but with 64 bits

  std::uint32_t bits() const { return GetParam(); }
  std::uint64_t max() const { return largest_counter >> (64 - bits()); }
  std::uint64_t per_word() const { return 64 / bits(); }

  /// Half of them near the ends of the range, where carries and saturation are.
  std::uint64_t random_value() {
    const std::uint64_t near = random_.below(std::min<std::uint64_t>(max(), 3) + 1);
    const std::uint64_t kind = random_.below(4);
    if (kind == 0) return near;
    return kind == 1 ? max() - near : random_.next() & max();
  }

  CounterArray random_counters(std::vector<std::uint64_t>& twin) {
    CounterArray counters(size, bits());
    twin.resize(size);
    for (std::uint64_t i = 0; i < size; ++i) counters.set(i, twin[i] = random_value());
    return counters;
  }

  /// All counters, and nothing in the bits that belong to none.
  void expect_equal(const CounterArray& counters, const std::vector<std::uint64_t>& twin) const {
    std::vector<std::uint64_t> words(CounterArray::num_words(twin.size(), bits()));
    for (std::uint64_t i = 0; i < twin.size(); ++i) {
      ASSERT_EQ(counters.get(i), twin[i]) << "counter " << i;
      words[i / per_word()] |= twin[i] << (i % per_word() * bits());
    }
    ASSERT_TRUE(std::ranges::equal(counters.words(), words));
  }

  test::Random random_{GetParam()};
};

TEST_P(CounterArrayOfWidth, StartsAtZeroAndKnowsItsMaximum) {
  const CounterArray counters(size, bits());
  EXPECT_EQ(counters.size(), size);
  EXPECT_EQ(counters.counter_bits(), bits());
  EXPECT_EQ(counters.max(), max());
  expect_equal(counters, std::vector<std::uint64_t>(size));
}

TEST_P(CounterArrayOfWidth, EveryOperationEqualsTheTwinsAndDisturbsNoNeighbour) {
  std::vector<std::uint64_t> twin;
  CounterArray counters = random_counters(twin);
  expect_equal(counters, twin);
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t i = random_.below(size);
    const std::uint64_t value = random_value();
    const bool stuck = twin[i] == max();
    switch (random_.below(4)) {
      case 0:
        counters.set(i, twin[i] = value);
        break;
      case 1:
        twin[i] += stuck ? 0 : 1;
        ASSERT_EQ(counters.increment(i), twin[i]);
        break;
      case 2:
        if (twin[i] == 0) continue;
        twin[i] -= stuck ? 0 : 1;
        counters.decrement_at(counters.locate(i));
        break;
      default:
        twin[i] = std::max(twin[i], value);
        counters.raise_to_at(counters.locate(i), value);
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(counters, twin)) << step;
  }
}

TEST_P(CounterArrayOfWidth, ACounterAtItsMaximumIsNeverRaisedAndNeverLowered) {
  CounterArray counters(size, bits());
  std::vector<std::uint64_t> twin(size);
  counters.set(100, twin[100] = max());
  EXPECT_EQ(counters.increment(100), max());
  expect_equal(counters, twin);
  counters.decrement_at(counters.locate(100));
  expect_equal(counters, twin);
  counters.raise_to_at(counters.locate(100), 1);
  expect_equal(counters, twin);
}

TEST_P(CounterArrayOfWidth, AMergeAddsCounterByCounterAndWhatIsStuckStaysStuck) {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> mine;
    std::vector<std::uint64_t> theirs;
    CounterArray counters = random_counters(mine);
    const CounterArray other = random_counters(theirs);
    counters.merge(other);
    for (std::uint64_t i = 0; i < size; ++i) {
      mine[i] = mine[i] > max() - theirs[i] ? max() : mine[i] + theirs[i];
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(counters, mine));
    ASSERT_NO_FATAL_FAILURE(expect_equal(other, theirs));
  }
}

TEST_P(CounterArrayOfWidth, MergingWithItselfDoublesEveryCounter) {
  std::vector<std::uint64_t> twin;
  CounterArray counters = random_counters(twin);
  counters.merge(counters);
  for (std::uint64_t& value : twin) value = value > max() - value ? max() : 2 * value;
  expect_equal(counters, twin);
}

TEST_P(CounterArrayOfWidth, CountsCountersOfAtLeastAnyValueInAnyRange) {
  std::vector<std::uint64_t> twin;
  const CounterArray counters = random_counters(twin);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t begin = random_.below(size + 1);
    const std::uint64_t end = random_.between(begin, size);
    const std::uint64_t value = random_value();
    const auto truth = std::count_if(twin.begin() + static_cast<std::ptrdiff_t>(begin),
                                     twin.begin() + static_cast<std::ptrdiff_t>(end),
                                     [&](std::uint64_t counter) { return counter >= value; });
    ASSERT_EQ(counters.num_at_least(value, begin, end), static_cast<std::uint64_t>(truth));
  }
}

TEST_P(CounterArrayOfWidth, TheHistogramHoldsEveryCounterOnceInBinsThatTouch) {
  std::vector<std::uint64_t> twin;
  const CounterArray counters = random_counters(twin);
  const std::vector<HistogramBin> bins = counters.histogram();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    EXPECT_EQ(bins[i].least, i == 0 ? 0 : bins[i - 1].greatest + 1);
    if (i < std::min<std::uint64_t>(max(), 255)) {
      EXPECT_EQ(bins[i].least, bins[i].greatest);
    }
    const auto truth = std::ranges::count_if(
        twin, [&](std::uint64_t value) { return value >= bins[i].least && value <= bins[i].greatest; });
    EXPECT_EQ(bins[i].num_counters, static_cast<std::uint64_t>(truth)) << bins[i].least;
    total += bins[i].num_counters;
  }
  EXPECT_EQ(total, size);
  EXPECT_EQ(bins.back(),
            (HistogramBin{max(), max(), static_cast<std::uint64_t>(std::ranges::count(twin, max()))}));
}

TEST_P(CounterArrayOfWidth, TheHistogramEndsAtTheLastBinThatHoldsAnything) {
  CounterArray counters(10, bits());
  EXPECT_EQ(counters.histogram(), (std::vector<HistogramBin>{{0, 0, 10}}));
  counters.increment(3);
  EXPECT_EQ(counters.histogram(), (std::vector<HistogramBin>{{0, 0, 9}, {1, 1, 1}}));
}

TEST_P(CounterArrayOfWidth, ALineHoldsEightWordsOfCounters) {
  EXPECT_EQ(CounterArray::positions_per_line(bits()), 8 * per_word());
  EXPECT_EQ(CounterArray::num_words(8 * per_word(), bits()), 8u);
  EXPECT_EQ(CounterArray::num_words(8 * per_word() + 1, bits()), 9u);
}

TEST_P(CounterArrayOfWidth, HalvingRoundsUpAndLeavesTheMaximum) {
  std::vector<std::uint64_t> twin;
  CounterArray counters = random_counters(twin);
  counters.halve();
  for (std::uint64_t& value : twin) value = value == max() ? value : value / 2 + value % 2;
  expect_equal(counters, twin);
}

TEST_P(CounterArrayOfWidth, ClearingSetsEveryCounterTo0) {
  std::vector<std::uint64_t> twin;
  CounterArray counters = random_counters(twin);
  counters.clear();
  expect_equal(counters, std::vector<std::uint64_t>(size));
}

INSTANTIATE_TEST_SUITE_P(Widths, CounterArrayOfWidth, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64),
                         [](const auto& width) { return "Of" + std::to_string(width.param) + "Bits"; });

TEST(CounterArray, OtherWidthsAreRefused) {
  for (const std::uint32_t width : {0u, 9u, 10u, 15u, 17u, 31u, 33u, 63u, 65u, 128u, 0xffffffffu}) {
    EXPECT_FALSE(CounterArray::is_width(width));
    test::expect_refused([&] { CounterArray(10, width); },
                         {"CounterArray: counter_bits is " + std::to_string(width), "1 to 8, 16, 32 or 64"});
    test::expect_refused([&] { CounterArray(10, width, detail::AlignedWords(10)); }, {"counter_bits"});
  }
}

TEST(CounterArray, TheWidthForAValueIsTheLeastThatHoldsIt) {
  std::vector<std::uint64_t> values = {0};
  for (std::uint32_t shift = 0; shift < 64; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  values.push_back(largest_counter);
  for (const std::uint64_t value : values) {
    std::uint32_t least = 1;
    while (!CounterArray::is_width(least) || largest_counter >> (64 - least) < value) ++least;
    EXPECT_EQ(CounterArray::width_for(value), least) << value;
  }
}

TEST(CounterArray, TheMaximumHasABinOfItsOwnBesideTheBinsOfPowersOfTwo) {
  CounterArray counters(6, 16);
  counters.set(0, 255);
  counters.set(1, 256);
  counters.set(2, 511);
  counters.set(3, 512);
  counters.set(4, 65534);
  counters.set(5, 65535);
  const std::vector<HistogramBin> bins = counters.histogram();
  ASSERT_EQ(bins.size(), 256u + 8u + 1u);
  EXPECT_EQ(bins[255], (HistogramBin{255, 255, 1}));
  EXPECT_EQ(bins[256], (HistogramBin{256, 511, 2}));
  EXPECT_EQ(bins[257], (HistogramBin{512, 1023, 1}));
  EXPECT_EQ(bins[263], (HistogramBin{32768, 65534, 1}));
  EXPECT_EQ(bins[264], (HistogramBin{65535, 65535, 1}));
}

}  // namespace
}  // namespace tally

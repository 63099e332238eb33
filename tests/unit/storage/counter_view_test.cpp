#include "tally/storage/counter_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "tally/storage/counter_array.hpp"
#include "tally/storage/nibble_counters.hpp"

namespace tally {
namespace {

/// The views of every width, beside an array of the same counters.
class CounterViewOfWidth : public testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint64_t size = 203;  // the last word is not full, but with 64 bits

  /// Calls expect(a view that is right for this width) for each of them.
  template <class Expect>
  void with_each_view(CounterArray& counters, Expect expect) {
    with_counters(counters, expect);
    expect(CounterView<false, std::uint64_t>(counters, counters.words()));
    if (64 % GetParam() == 0) expect(CounterView<true, std::uint64_t>(counters, counters.words()));
  }

  /// A value near the ends of the range, where carries and saturation are, or any other.
  std::uint64_t random_value(std::uint64_t max) {
    const std::uint64_t near = random_.below(std::min<std::uint64_t>(max, 3) + 1);
    const std::uint64_t kind = random_.below(4);
    if (kind == 0) return near;
    return kind == 1 ? max - near : random_.next() & max;
  }

  test::Random random_{GetParam()};
};

TEST_P(CounterViewOfWidth, DoesWhatTheArrayDoesAndDisturbsNoNeighbour) {
  CounterArray counters(size, GetParam());
  with_each_view(counters, [&](auto view) {
    EXPECT_EQ(view.max(), counters.max());
    EXPECT_EQ(view.words().data(), counters.words().data());
    EXPECT_EQ(view.words().size(), counters.words().size());
    for (std::uint64_t i = 0; i < size; ++i) counters.set(i, random_value(counters.max()));
    CounterArray twin = counters;
    for (int step = 0; step < 4000; ++step) {
      const std::uint64_t i = random_.below(size);
      const std::uint64_t offset = view.locate(i);
      const std::uint64_t before = twin.get(i);
      ASSERT_EQ(view.get_at(offset), before);
      switch (random_.below(3)) {
        case 0: {
          const bool is_saturated = twin.increment(i) == twin.max();
          ASSERT_EQ((view.raise_one_at(offset) & counter_saturated) != 0, is_saturated);
          break;
        }
        case 1: {
          if (before != 0) twin.decrement_at(twin.locate(i));
          const std::uint32_t change = view.lower_one_at(offset);
          ASSERT_EQ((change & counter_was_zero) != 0, before == 0);
          ASSERT_EQ((change & counter_saturated) != 0, before == twin.max());
          break;
        }
        default: {
          const std::uint64_t value = random_value(twin.max());
          twin.raise_to_at(twin.locate(i), value);
          view.raise_to_at(offset, value);
        }
      }
      ASSERT_TRUE(counters == twin) << "counter " << i << " that was " << before;
    }
  });
}

TEST_P(CounterViewOfWidth, OfAConstantArrayReadsTheSame) {
  CounterArray counters(size, GetParam());
  for (std::uint64_t i = 0; i < size; ++i) counters.set(i, random_value(counters.max()));
  with_counters(std::as_const(counters), [&](auto view) {
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(view.get_at(view.locate(i)), counters.get(i));
  });
}

INSTANTIATE_TEST_SUITE_P(Every, CounterViewOfWidth, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64),
                         [](const auto& instance) { return std::to_string(instance.param); });

}  // namespace
}  // namespace tally

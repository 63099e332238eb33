#include "tally/filters/spill_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "random.hpp"

namespace tally {
namespace {

using test::Random;

TEST(SpillTable, CountsAsAMapDoesUpToItsCapacity) {
  for (const std::uint64_t capacity : {1, 2, 3, 10, 64}) {
    SpillTable table(capacity);
    std::map<std::uint64_t, std::uint64_t> exact;
    Random random(capacity);
    std::uint64_t total = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t fingerprint = random.below(2 * capacity);
      if (random.below(2) == 0) {
        const std::uint64_t times = random.between(1, 3);
        const bool has_room = exact.contains(fingerprint) || exact.size() < capacity;
        ASSERT_EQ(table.can_add(fingerprint), has_room);
        ASSERT_EQ(table.add(fingerprint, times), has_room);
        if (has_room) exact[fingerprint] += times;
        total += has_room ? times : 0;
      } else {
        const bool is_in = exact.contains(fingerprint);
        ASSERT_EQ(table.take_one(fingerprint), is_in);
        if (is_in && --exact[fingerprint] == 0) exact.erase(fingerprint);
        total -= is_in;
      }
      ASSERT_EQ(table.size(), exact.size());
      ASSERT_EQ(table.total(), total);
      for (std::uint64_t f = 0; f < 2 * capacity; ++f) {
        ASSERT_EQ(table.count(f), exact.contains(f) ? exact[f] : 0) << f;
      }
    }
  }
}

TEST(SpillTable, WithoutCapacityTakesNothing) {
  SpillTable table(0);
  EXPECT_FALSE(table.add(1, 1));
  EXPECT_FALSE(table.take_one(1));
  EXPECT_EQ(table.count(1), 0u);
  EXPECT_TRUE(table.words().empty());
}

TEST(SpillTable, EndsEverySearchWhateverAFileHeld) {
  detail::AlignedWords words(2 * SpillTable::num_slots(5));
  for (std::uint64_t i = 0; i < words.size(); ++i) words.data()[i] = ~i;
  SpillTable table(5, std::move(words));
  for (std::uint64_t f = 0; f < 100; ++f) {
    (void)table.count(f);
    EXPECT_FALSE(table.can_add(f) && table.size() > table.capacity() && table.count(f) == 0);
  }
}

}  // namespace
}  // namespace tally

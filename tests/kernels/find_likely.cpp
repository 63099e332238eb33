#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "checks.hpp"
#include "random.hpp"
#include "tally/sketches/counted_keys.hpp"

namespace tally::test {

void expect_find_likely_as_find() {
  for (const std::uint64_t capacity : {1, 2, 3, 4, 7, 8, 64, 1000, 1024}) {
    SCOPED_TRACE("a table for " + std::to_string(capacity) + " keys");
    // The salted digests are then known: these agree in the bits that a slot has of them, in groups of eight.
    CountedKeys table(capacity, "Test", detail::ProcessSalt{1, 0});
    Random random(capacity);
    std::vector<Hash128> digests;
    while (digests.size() < 8 * capacity) {
      const std::uint64_t low = random.next();
      for (std::uint64_t high = 0; high < 4; ++high) digests.push_back({low, high});
      for (int other = 0; other < 4; ++other) digests.push_back({random.next(), 0});
    }
    const auto expect_likely = [&] {
      std::vector<std::uint64_t> salted;
      for (const Hash128 digest : digests) salted.push_back(table.salted(digest));
      std::vector<std::uint32_t> entries(digests.size());
      table.find_likely(salted, entries);
      for (std::size_t i = 0; i < digests.size(); ++i) {
        const std::uint32_t found = table.find(digests[i]);
        if (entries[i] == CountedKeys::none) {
          ASSERT_EQ(found, CountedKeys::none) << i;
        } else if (entries[i] != found) {
          ASSERT_LT(entries[i], table.size()) << i;
          ASSERT_EQ(table.salted(table[entries[i]].digest) >> 32, salted[i] >> 32) << i;
        }
      }
    };
    ASSERT_NO_FATAL_FAILURE(expect_likely());
    while (!table.is_full()) {
      // With two of a group of four, of which the search finds the first.
      const Hash128 digest = digests[(table.size() * 5) % digests.size()];
      if (table.find(digest) == CountedKeys::none) {
        table.add("x", {digest, table.size() + 1, 0});
      } else {
        table.add("y", {random.digest(), table.size() + 1, 0});
      }
      if (table.size() % (1 + capacity / 8) == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_likely());
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_likely());
  }
}

}  // namespace tally::test

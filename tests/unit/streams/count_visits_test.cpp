#include "streams/threshold/count_visits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tally::detail {
namespace {

TEST(CountVisits, OfAllValuesUpToOneAreThoseOfEachOfThem) {
  for (const std::uint64_t threshold : {1, 2, 31, 32, 63, 64, 65, 66, 96, 97, 98, 99, 100, 1000}) {
    CountVisits one_by_one(threshold);
    CountVisits at_once(threshold);
    for (std::uint64_t last = 0; last <= threshold; ++last) {
      for (std::uint64_t value = 1; value <= last; ++value) one_by_one.add(value);
      at_once.add_up_to(last);
      ASSERT_TRUE(std::ranges::equal(at_once.words(), one_by_one.words())) << last << " of " << threshold;
    }
  }
}

}  // namespace
}  // namespace tally::detail

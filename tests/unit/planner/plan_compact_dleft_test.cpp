#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "expect_refused.hpp"
#include "random.hpp"
#include "tally/any_filter.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/planner.hpp"
#include "tally/theory/dleft_fingerprints.hpp"

namespace tally {
namespace {

double rate_of(const CompactDLeftShape& shape, std::uint64_t num_keys) {
  return theory::dleft_false_positive_probability(shape.num_lines_per_subtable, shape.fingerprints_per_line(),
                                                  num_keys);
}

TEST(PlanCompactDLeft, KeysAndRateGiveTheLeastMemoryThatMeetsThem) {
  for (const std::uint64_t num_keys : {1u, 100u, 12'345u, 1'000'000u}) {
    for (const double rate : {0.5, 0.01, 0.004, 0.0002, 1e-9}) {
      const CompactDLeftShape shape =
          plan_compact_dleft({.num_keys = num_keys, .false_positive_rate = rate, .keys_repeat = false});
      EXPECT_LE(rate_of(shape, num_keys), rate);
      EXPECT_LE(static_cast<double>(num_keys),
                planned_compact_load(shape.remainder_bits) * static_cast<double>(shape.num_cells()));
      EXPECT_GE(planned_num_keys(shape, rate), num_keys);
      for (std::uint32_t bits = 8; bits <= 14; ++bits) {
        // With as much memory, no other line holds the keys at the rate in one line per subtable fewer.
        const CompactDLeftShape other{.num_lines_per_subtable = shape.num_lines_per_subtable - 1,
                                      .remainder_bits = bits};
        const bool is_enough = other.num_lines_per_subtable != 0 && rate_of(other, num_keys) <= rate &&
                               static_cast<double>(num_keys) <=
                                   planned_compact_load(bits) * static_cast<double>(other.num_cells());
        EXPECT_FALSE(is_enough) << num_keys << " " << rate << " " << bits;
      }
    }
  }
}

TEST(PlanCompactDLeft, RoundRatesTakeTheBitsPerKeyThatItIsMadeFor) {
  const auto bits_per_key = [](double rate) {
    return 8e-6 * static_cast<double>(num_bytes(plan_compact_dleft(
                      {.num_keys = 1'000'000, .false_positive_rate = rate, .keys_repeat = false})));
  };
  EXPECT_LE(bits_per_key(0.0045), 11.25);
  EXPECT_LE(bits_per_key(0.002), 12.8);
  EXPECT_LE(bits_per_key(0.0002), 16.9);
}

TEST(PlanCompactDLeft, AMemoryIsNotExceededAndUsed) {
  for (const std::uint64_t memory : {20'000u, 100'000u, 1'600'000u}) {
    const CompactDLeftShape of_rate =
        plan_compact_dleft({.false_positive_rate = 0.002, .memory_bytes = memory, .keys_repeat = false});
    EXPECT_LE(num_bytes(of_rate), memory);
    const std::uint64_t num_keys = planned_num_keys(of_rate, 0.002);
    EXPECT_GT(static_cast<double>(num_keys), 0.5 * 8 * static_cast<double>(memory) / 12.9);
    const CompactDLeftShape of_keys =
        plan_compact_dleft({.num_keys = num_keys / 2, .memory_bytes = memory, .keys_repeat = false});
    EXPECT_LE(num_bytes(of_keys), memory);
    EXPECT_GT(num_bytes(of_keys), memory / 2);
    EXPECT_LT(rate_of(of_keys, num_keys / 2), 0.001);
  }
}

/// Fills the filter with this many keys and then replaces keys at random, 12 times each on average. None may be
/// refused. Returns the share of insertions that moved a key in the second half of the time.
double share_of_moves(const CompactDLeftShape& shape, std::uint64_t num_keys) {
  CompactDLeftFilter filter(shape, 7);
  test::Random random(3);
  std::vector<std::uint64_t> keys(num_keys);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  std::uint64_t num_refused = filter.insert_range(keys);
  const std::uint64_t half = 6 * num_keys;
  std::uint64_t moves_before = 0;
  for (std::uint64_t i = 0; i < 2 * half; ++i) {
    if (i == half) moves_before = filter.totals().num_rescues;
    std::uint64_t& key = keys[random.below(num_keys)];
    num_refused += filter.remove(key) != RemoveResult::removed;
    key = num_keys + i;
    num_refused += filter.insert(key) != InsertResult::counted;
  }
  EXPECT_EQ(num_refused, 0u);
  return static_cast<double>(filter.totals().num_rescues - moves_before) / static_cast<double>(half);
}

TEST(PlanCompactDLeft, TheKeysOfAPlanFindRoomThoughKeysAtRandomAreReplaced) {
  for (const std::uint64_t num_keys : {1u, 40u, 1000u}) {
    (void)share_of_moves(
        plan_compact_dleft({.num_keys = num_keys, .false_positive_rate = 0.002, .keys_repeat = false}),
        num_keys);
  }
}

TEST(PlanCompactDLeft, AtThePlannedLoadAboutOneInsertionInAHundredMovesAKey) {
  for (std::uint32_t bits = least_compact_remainder_bits; bits <= max_compact_remainder_bits; ++bits) {
    const CompactDLeftShape shape{.num_lines_per_subtable = 400, .remainder_bits = bits};
    const double num_keys = planned_compact_load(bits) * static_cast<double>(shape.num_cells());
    EXPECT_NEAR(share_of_moves(shape, static_cast<std::uint64_t>(num_keys)), 0.01, 0.006) << bits;
  }
}

TEST(PlanCompactDLeft, RefusalsNameTheFieldAndTheFix) {
  using test::expect_refused;
  expect_refused([] { (void)plan_compact_dleft({.num_keys = 100, .false_positive_rate = 0.01}); },
                 {"plan_compact_dleft: keys_repeat is true", "set keys_repeat to false"});
  expect_refused(
      [] { (void)plan_compact_dleft({.num_keys = 1'000'000, .memory_bytes = 1000, .keys_repeat = false}); },
      {"plan_compact_dleft: memory_bytes is 1000; must be at least", "for 1000000 keys"});
  expect_refused([] { (void)planned_num_keys(CompactDLeftShape{.num_lines_per_subtable = 1}, 1.5); },
                 {"planned_num_keys: false_positive_rate is 1.5"});
}

TEST(Plan, OffersACompactFilterWhereKeysDoNotRepeat) {
  Requirements requirements{.num_keys = 1'000'000, .false_positive_rate = 0.002, .needs_deletes = true};
  for (const Candidate& candidate : plan(requirements).candidates)
    EXPECT_NE(candidate.kind(), FilterKind::compact_dleft);
  requirements.keys_repeat = false;
  requirements.max_doublings = 1;  // it cannot grow
  for (const Candidate& candidate : plan(requirements).candidates)
    EXPECT_NE(candidate.kind(), FilterKind::compact_dleft);
  requirements.max_doublings.reset();
  const Plan result = plan(requirements);
  const Candidate& first = result.recommended();
  ASSERT_EQ(first.kind(), FilterKind::compact_dleft);
  EXPECT_LT(first.bits_per_key(), 13);
  EXPECT_EQ(first.false_positive_rate, rate_of(std::get<CompactDLeftShape>(first.shape.shape), 1'000'000));
  EXPECT_EQ(first.cache_lines.lookup_absent, 2);
  EXPECT_NE(result.reason.find("counting-bloom never fills up"), std::string::npos) << result.reason;
  AnyFilter filter(first.shape, 1);
  EXPECT_EQ(filter.words().size_bytes() + filter.side_words().size_bytes(), first.shape.num_bytes());
}

}  // namespace
}  // namespace tally

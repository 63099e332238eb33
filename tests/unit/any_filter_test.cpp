#include "tally/any_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "sample_filters.hpp"

namespace tally {
namespace {

using test::describe;
using test::expect_refused;
using test::filled;
using test::Flags;
using test::sample_keys;
using test::sample_shapes;

TEST(FilterKind, EveryNameLeadsBackToItsKindAndAnUnknownOneListsThem) {
  for (const FilterKind kind :
       {FilterKind::bloom, FilterKind::blocked_bloom, FilterKind::counting_bloom, FilterKind::threshold}) {
    EXPECT_EQ(filter_kind(name_of(kind)), kind);
  }
  expect_refused([] { filter_kind("cuckoo"); },
                 {"'cuckoo'", "must be one of bloom, blocked-bloom, counting-bloom, threshold"});
}

TEST(SchemeList, EveryNameLeadsBackToItsIdAndAnUnknownOneListsThem) {
  for (std::uint16_t id = 1; id <= 9; ++id) EXPECT_EQ(scheme_id(scheme_name(id)), id);
  expect_refused([] { scheme_id("tripple"); }, {"'tripple'",
                                                "congruential, blocked, standard, partitioned, double, "
                                                "enhanced-double-quadratic, enhanced-double-cubic, triple, "
                                                "partition-double"});
  expect_refused([] { scheme_name(0); }, {"file_id is 0", "1 (congruential)"});
  expect_refused([] { scheme_name(10); }, {"file_id is 10"});
}

TEST(FilterShape, SaysWhatTheShapeInsideSays) {
  const FilterShape bloom{BloomShape{1024, 5}};
  EXPECT_EQ(bloom.kind(), FilterKind::bloom);
  EXPECT_EQ(bloom.scheme_name(), "congruential");
  EXPECT_EQ(bloom.num_positions(), 1024u);
  EXPECT_EQ(bloom.num_hashes(), 5u);
  EXPECT_EQ(bloom.counter_bits(), 1u);
  EXPECT_EQ(bloom.threshold(), 0u);
  EXPECT_EQ(bloom.num_bytes(), 128u);
  EXPECT_EQ((FilterShape{BloomShape{1024, 5}, BlockedScheme::file_id}.kind()), FilterKind::blocked_bloom);

  const FilterShape counting{CountingBloomShape{1000, 3, 8, 200}, TripleScheme::file_id};
  EXPECT_EQ(counting.kind(), FilterKind::counting_bloom);
  EXPECT_EQ(counting.scheme_name(), "triple");
  EXPECT_EQ(counting.num_positions(), 1000u);
  EXPECT_EQ(counting.counter_bits(), 8u);
  EXPECT_EQ(counting.threshold(), 200u);
  EXPECT_EQ(counting.num_bytes(), 1000u);

  const FilterShape threshold{ThresholdShape{640, 3, 5}};
  EXPECT_EQ(threshold.kind(), FilterKind::threshold);
  EXPECT_EQ(threshold.num_hashes(), 3u);
  EXPECT_EQ(threshold.counter_bits(), 3u);
  EXPECT_EQ(threshold.threshold(), 5u);
  EXPECT_EQ(threshold.num_bytes(), 8u * 31);  // 21 counters a word
}

TEST(FilterShape, RoundsToWhatTheSchemeCanUse) {
  const auto round = [](std::uint64_t num_bits, std::uint16_t scheme, Rounding rounding) {
    return round_to_scheme({BloomShape{num_bits, 4}, scheme}, rounding).num_positions();
  };
  EXPECT_EQ(round(1000, DefaultScheme::file_id, Rounding::up), 1000u);
  EXPECT_EQ(round(1000, BlockedScheme::file_id, Rounding::up), 1024u);
  EXPECT_EQ(round(1000, BlockedScheme::file_id, Rounding::down), 512u);
  EXPECT_EQ(round(1001, PartitionedScheme::file_id, Rounding::up), 1004u);
  EXPECT_EQ(round(1000, PartitionDoubleScheme::file_id, Rounding::up), 4u * 251);
  expect_refused([&] { round(500, BlockedScheme::file_id, Rounding::down); },
                 {"BlockedBloomFilter: num_bits is 500; must be greater for the scheme 'blocked'"});
  expect_refused([&] { round(max_num_positions - 1, PartitionDoubleScheme::file_id, Rounding::up); },
                 {"num_bits", "less for the scheme 'partition-double'"});
  expect_refused([&] { round(0, DefaultScheme::file_id, Rounding::up); }, {"BloomFilter: num_bits is 0"});
  expect_refused([&] { round(1000, 99, Rounding::up); }, {"file_id is 99"});
  expect_refused(
      [] {
        round_to_scheme({BloomShape{1000, 0}, PartitionedScheme::file_id}, Rounding::up);
      },
      {"num_hashes is 0"});
}

TEST(AnyFilter, HasTheShapeItWasMadeWith) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter(shape, 7);
    EXPECT_EQ(filter.shape(), shape);
    EXPECT_EQ(filter.kind(), shape.kind());
    EXPECT_EQ(filter.hasher(), KeyHasher(7));
    EXPECT_EQ(filter.words().size() * 8, shape.num_bytes());
    EXPECT_EQ(filter.totals(), FilterTotals{});
    EXPECT_EQ(filter.can_remove(), shape.kind() == FilterKind::counting_bloom);
    EXPECT_EQ(filter.has_threshold(), shape.kind() == FilterKind::threshold);
    EXPECT_EQ(filter.can_count(), filter.can_remove() || filter.has_threshold());
  }
}

TEST(AnyFilter, AnswersAsTheFilterInside) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    const std::vector<Hash128> keys = sample_keys(filter.hasher(), 200);
    Flags contained(keys.size());
    filter.may_contain_batch(keys, contained.span());
    filter.visit([&](const auto& inside) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if constexpr (requires { inside.may_contain(keys[i]); })
          EXPECT_EQ(contained[i], inside.may_contain(keys[i]));
        else EXPECT_EQ(contained[i], inside.at_least(keys[i]));
      }
    });
    if (!filter.can_count()) continue;
    Flags enough(keys.size());
    std::vector<Count> counts(keys.size());
    filter.at_least_batch(keys, shape.threshold(), enough.span());
    filter.count_batch(keys, counts);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(enough[i], counts[i].value >= shape.threshold());
      const std::uint64_t truth = i < 30 ? i % 5 + 1 - (filter.can_remove() && i % 3 == 0) : 0;
      EXPECT_TRUE(counts[i].saturated || counts[i].value >= truth) << i;
    }
  }
}

TEST(AnyFilter, EqualsTheConcreteFilterItIsMadeFrom) {
  CountingBloomFilter<DoubleScheme> concrete({.num_counters = 307, .num_hashes = 4}, 42);
  const std::vector<Hash128> keys = sample_keys(42, 30);
  concrete.insert_batch(keys);
  const AnyFilter any(concrete);
  EXPECT_EQ(any.shape(), (FilterShape{CountingBloomShape{307, 4}, DoubleScheme::file_id}));
  EXPECT_EQ(any.totals().num_insertions, 30u);
  EXPECT_TRUE(std::ranges::equal(any.words(), concrete.storage().words()));
  EXPECT_EQ(any.statistics().num_nonzero, concrete.statistics().num_nonzero);
  static_assert(!std::is_constructible_v<AnyFilter, int>);
}

TEST(AnyFilter, CountsInsertionsAndRemoves) {
  AnyFilter filter = filled({CountingBloomShape{307, 4}});
  EXPECT_EQ(filter.totals(), (FilterTotals{90, 10, 0}));
  const Hash128 absent = sample_keys(filter.hasher(), 1000).back();
  RemoveResult result{};
  filter.remove_batch(std::span(&absent, 1), std::span(&result, 1));
  EXPECT_EQ(result, RemoveResult::refused);
  EXPECT_EQ(filter.totals(), (FilterTotals{90, 10, 1}));
  EXPECT_EQ(filled({ThresholdShape{307, 4, 3}}).totals(), (FilterTotals{90, 0, 0}));
}

TEST(AnyFilter, InsertsIntoAThresholdFilterAlikeWithAndWithoutStates) {
  const FilterShape shape{ThresholdShape{5000, 3, 2}};
  AnyFilter with(shape, 1), without(shape, 1);
  std::vector<Hash128> keys = sample_keys(1, 300);  // more than two windows
  keys.insert(keys.end(), keys.begin(), keys.begin() + 150);
  std::vector<ThresholdState> states(keys.size());
  with.insert_batch(keys, states);
  without.insert_batch(keys);
  EXPECT_TRUE(std::ranges::equal(with.words(), without.words()));
  EXPECT_EQ(without.totals().num_insertions, 450u);
  for (std::size_t i = 300; i < states.size(); ++i) EXPECT_EQ(states[i], ThresholdState::at_least);
}

TEST(AnyFilter, RefusesWhatItsKindDoesNotHaveAndStaysAsItWas) {
  AnyFilter bloom = filled({BloomShape{1013, 5}});
  AnyFilter counting = filled({CountingBloomShape{307, 4}});
  AnyFilter threshold = filled({ThresholdShape{307, 4, 3}});
  const std::vector<Hash128> keys = sample_keys(42, 2);
  Flags flags(2);
  std::vector<Count> counts(2);
  std::vector<RemoveResult> removed(2);
  std::vector<ThresholdState> states(2);
  const std::vector<std::uint64_t> before(bloom.words().begin(), bloom.words().end());
  expect_refused([&] { bloom.remove_batch(keys, removed); },
                 {"remove: a bloom filter has none; use a counting-bloom filter"});
  expect_refused([&] { threshold.remove_batch(keys, removed); }, {"remove: a threshold filter"});
  expect_refused([&] { bloom.count_batch(keys, counts); }, {"count: a bloom", "counting-bloom or threshold"});
  expect_refused([&] { bloom.at_least_batch(keys, 2, flags.span()); }, {"at_least: a bloom"});
  expect_refused([&] { bloom.insert_batch(keys, states); },
                 {"insert with a state: a bloom", "threshold filter"});
  expect_refused([&] { counting.insert_batch(keys, states); }, {"insert with a state: a counting-bloom"});
  expect_refused([&] { threshold.at_least_batch(keys, 2, flags.span()); }, {"theta is 2; must be 3"});
  expect_refused([&] { counting.at_least_batch(keys, 2, flags.span()); }, {"theta is 2; must be 1 to 1"});
  EXPECT_TRUE(std::ranges::equal(bloom.words(), before));
  EXPECT_EQ(bloom.totals().num_insertions, 90u);
}

TEST(AnyFilter, RefusesSpansOfDifferentLengths) {
  AnyFilter counting = filled({CountingBloomShape{307, 4}});
  AnyFilter threshold = filled({ThresholdShape{307, 4, 3}});
  const std::vector<Hash128> keys = sample_keys(42, 3);
  Flags flags(2);
  std::vector<Count> counts(4);
  std::vector<RemoveResult> removed(2);
  std::vector<ThresholdState> states(2);
  expect_refused([&] { counting.may_contain_batch(keys, flags.span()); },
                 {"number of results is 2; must be 3"});
  expect_refused([&] { counting.at_least_batch(keys, 1, flags.span()); },
                 {"number of results is 2; must be 3"});
  expect_refused([&] { counting.count_batch(keys, counts); }, {"number of results is 4; must be 3"});
  expect_refused([&] { counting.remove_batch(keys, removed); }, {"number of results is 2; must be 3"});
  expect_refused([&] { threshold.insert_batch(keys, states); }, {"number of results is 2; must be 3"});
}

TEST(AnyFilter, RefusesShapesOutOfRange) {
  const auto make = [](FilterShape shape) { return AnyFilter(shape, 1); };
  expect_refused([&] { make({BloomShape{0, 5}}); }, {"BloomFilter: num_bits is 0"});
  expect_refused([&] { make({BloomShape{~std::uint64_t{0}, 5}}); }, {"BloomFilter: num_bits"});
  expect_refused(
      [&] {
        make({BloomShape{1000, 5}, BlockedScheme::file_id});
      },
      {"BlockedBloomFilter: num_bits is 1000; must be 512 or 1024"});
  expect_refused([&] { make({BloomShape{1000, 5}, 0}); }, {"file_id is 0"});
  expect_refused([&] { make({BloomShape{1000, 1025}}); }, {"num_hashes is 1025"});
  expect_refused(
      [&] {
        make({CountingBloomShape{512, 4}, BlockedScheme::file_id});
      },
      {"CountingBloomFilter: scheme is 'blocked'"});
  expect_refused(
      [&] {
        make({ThresholdShape{512, 4, 3}, BlockedScheme::file_id});
      },
      {"ThresholdFilter: scheme is 'blocked'"});
  for (const std::uint32_t width : {0u, 9u, 65u}) {
    expect_refused([&] { make({CountingBloomShape{512, 4, width}}); }, {"CountingBloomFilter: counter_bits"});
  }
  expect_refused([&] { make({ThresholdShape{512, 4, 0}}); }, {"ThresholdFilter: threshold is 0"});
  expect_refused(
      [] {
        AnyFilter({BloomShape{1000, 5}}, 1, {}, detail::AlignedWords(15));
      },
      {"number of words is 15; must be 16"});
}

TEST(AnyFilter, AMergeAnswersForTheKeysOfBoth) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    AnyFilter a = filled(shape);
    AnyFilter b(shape, 42);
    const std::vector<Hash128> others = sample_keys(42, 60);
    b.insert_batch(others);
    a.merge(b);
    EXPECT_EQ(a.totals().num_insertions, 150u);
    if (a.has_threshold()) continue;
    Flags contained(others.size());
    a.may_contain_batch(others, contained.span());
    for (std::size_t i = 0; i < others.size(); ++i) EXPECT_TRUE(contained[i]) << i;
  }
}

TEST(AnyFilter, AMergeNamesTheFirstFieldThatDiffersAndChangesNothing) {
  const FilterShape shape{CountingBloomShape{308, 4, 4, 5}};
  const auto refused = [&](const FilterShape& other, const KeyHasher& hasher, const char* field) {
    AnyFilter mine = filled(shape);
    const std::vector<std::uint64_t> before(mine.words().begin(), mine.words().end());
    expect_refused([&] { mine.merge(filled(other, hasher)); },
                   {"cannot merge: " + std::string(field) + " is "});
    EXPECT_TRUE(std::ranges::equal(mine.words(), before));
  };
  refused({ThresholdShape{308, 4, 5}}, 42, "kind");
  refused({CountingBloomShape{308, 4, 4, 5}, PartitionedScheme::file_id}, 42, "scheme");
  refused(shape, KeyHasher::keyed(test::sample_hash_key()), "hash");
  refused(shape, 43, "seed");
  refused({CountingBloomShape{312, 4, 4, 5}}, 42, "num_counters");
  refused({CountingBloomShape{308, 7, 4, 5}}, 42, "num_hashes");
  refused({CountingBloomShape{308, 4, 8, 5}}, 42, "counter_bits");
  refused({CountingBloomShape{308, 4, 4, 6}}, 42, "max_threshold");
}

}  // namespace
}  // namespace tally

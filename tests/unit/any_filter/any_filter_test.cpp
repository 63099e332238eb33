#include "tally/any_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "sample_filters.hpp"
#include "tally/planner.hpp"

namespace tally {
namespace {

using test::describe;
using test::expect_refused;
using test::filled;
using test::Flags;
using test::sample_keys;
using test::sample_shapes;

TEST(FilterKind, EveryNameLeadsBackToItsKindAndAnUnknownOneListsThem) {
  for (const FilterKind kind : {FilterKind::bloom, FilterKind::blocked_bloom, FilterKind::counting_bloom,
                                FilterKind::threshold, FilterKind::dleft, FilterKind::count_min,
                                FilterKind::compact_dleft, FilterKind::blocked_counting_bloom}) {
    EXPECT_EQ(filter_kind(name_of(kind)), kind);
  }
  expect_refused([] { filter_kind("cuckoo"); },
                 {"'cuckoo'",
                  "must be one of bloom, blocked-bloom, counting-bloom, threshold, dleft, count-min, "
                  "compact-dleft, blocked-counting-bloom"});
}

TEST(SchemeList, EveryNameLeadsBackToItsIdAndAnUnknownOneListsThem) {
  for (const NamedScheme& scheme : AllSchemes::names) {
    EXPECT_EQ(scheme_id(scheme.name), scheme.file_id);
    EXPECT_EQ(scheme_name(scheme.file_id), scheme.name);
    const bool is_counted =
        scheme.file_id != BlockedScheme::file_id && scheme.file_id != RegisterBlockedScheme::file_id;
    EXPECT_EQ(is_line_scheme(scheme.file_id), !is_counted) << scheme.name;
    EXPECT_EQ(CounterSchemes::with_id(scheme.file_id, [](auto) {}), is_counted) << scheme.name;
  }
  expect_refused([] { scheme_id("tripple"); }, {"'tripple'",
                                                "congruential, blocked, standard, partitioned, double, "
                                                "enhanced-double-quadratic, enhanced-double-cubic, triple, "
                                                "partition-double, register-blocked"});
  expect_refused([] { scheme_name(0); }, {"file_id is 0", "1 (congruential)"});
  expect_refused([] { scheme_name(AllSchemes::most_id + 1); }, {"file_id is "});
  for (std::uint16_t id = 16; id <= 17; ++id) EXPECT_EQ(bucket_scheme_id(bucket_scheme_name(id)), id);
  expect_refused([] { bucket_scheme_id("triple"); }, {"'triple'", "one of rotation, multiplier"});
  for (std::uint16_t id = 32; id <= 35; ++id) EXPECT_EQ(row_scheme_id(row_scheme_name(id)), id);
  expect_refused([] { row_scheme_id("triple"); }, {"one of congruential, independent, pairwise, two-hash"});
  expect_refused([] { row_scheme_name(1); }, {"file_id is 1", "32 (congruential), 33 (independent)"});
  expect_refused([] { bucket_scheme_name(1); }, {"file_id is 1", "16 (rotation), 17 (multiplier)"});
}

TEST(KindTraits, SayWhatAFilterOfTheKindDoes) {
  for (const KindTraits& traits : all_kinds()) {
    SCOPED_TRACE(std::string(traits.name));
    const Requirements wanted =
        traits.takes_weights
            ? Requirements{.epsilon = 0.1, .failure_probability = 0.1}
            : Requirements{.num_keys = 10, .false_positive_rate = 0.1, .threshold = 1, .keys_repeat = false};
    AnyFilter filter(plan_shape(traits.kind, wanted), 1);
    EXPECT_EQ(filter.kind(), traits.kind);
    EXPECT_EQ(filter.shape().scheme_id, traits.default_scheme_id);
    const std::vector<Hash128> keys{filter.hasher()("apple")};
    const auto does = [](auto call) {
      try {
        call();
        return true;
      } catch (const std::invalid_argument&) {
        return false;
      }
    };
    const std::vector<std::uint64_t> weights{2};
    std::vector<RemoveResult> removed(1);
    std::vector<ThresholdState> states(1);
    std::vector<Count> counts(1);
    std::vector<CountEstimate> estimates(1);
    EXPECT_EQ(does([&] { filter.insert_batch(keys, states); }), traits.tells_states);
    EXPECT_EQ(does([&] { (void)filter.add_batch(keys, weights); }), traits.takes_weights);
    EXPECT_EQ(does([&] { filter.halve(); }), traits.takes_weights);
    EXPECT_EQ(does([&] { filter.estimate_batch(keys, estimates); }), traits.takes_weights);
    EXPECT_EQ(does([&] { filter.count_batch(keys, counts); }), traits.can_count);
    EXPECT_EQ(does([&] { filter.remove_batch(keys, removed); }), traits.can_remove);
    EXPECT_EQ(does([&] { (void)filter.try_grow(); }), traits.can_grow);
    EXPECT_EQ(filter.shape().largest_theta() != 0, traits.can_count);
  }
}

TEST(KindTraits, EverySchemeOfAKindMakesAFilterOfTheKind) {
  for (const KindTraits& traits : all_kinds()) {
    for (const NamedScheme& scheme : traits.schemes) {
      Requirements wanted{.num_keys = 100,
                          .false_positive_rate = 0.1,
                          .threshold = 1,
                          .scheme = scheme.name,
                          .keys_repeat = false};
      if (traits.takes_weights) wanted = {.scheme = scheme.name, .epsilon = 0.1, .failure_probability = 0.1};
      const AnyFilter filter(plan_shape(traits.kind, wanted), 1);
      EXPECT_EQ(filter.kind(), traits.kind) << scheme.name;
      EXPECT_EQ(filter.shape().scheme_name(), scheme.name);
      EXPECT_EQ(filter.shape().scheme_id, scheme_id_of(traits.kind, scheme.name));
    }
  }
  expect_refused([] { (void)scheme_id_of(FilterKind::dleft, "triple"); },
                 {"DLeftCountingBloomFilter: scheme is 'triple'; must be one of rotation, multiplier"});
  expect_refused([] { (void)scheme_id_of(FilterKind::bloom, "blocked"); },
                 {"BloomFilter: scheme is 'blocked'"});
}

TEST(FilterShape, SaysWhatTheShapeInsideSays) {
  const FilterShape bloom{BloomShape{1024, 5}};
  EXPECT_EQ(bloom.kind(), FilterKind::bloom);
  EXPECT_EQ(bloom.scheme_name(), "congruential");
  EXPECT_EQ(bloom.num_positions(), 1024u);
  EXPECT_EQ(bloom.num_hashes(), 5u);
  EXPECT_EQ(bloom.counter_bits(), 1u);
  EXPECT_EQ(bloom.made_for_theta(), std::nullopt);
  EXPECT_EQ(bloom.largest_theta(), 0u);
  EXPECT_EQ(bloom.num_bytes(), 128u);
  EXPECT_EQ(bloom_filter_shape(1024, 5, BlockedScheme::file_id),
            (FilterShape{BlockedBloomShape{1024, 5}, BlockedScheme::file_id}));
  EXPECT_EQ(bloom_filter_shape(1024, 5, BlockedScheme::file_id).kind(), FilterKind::blocked_bloom);
  EXPECT_EQ(bloom_filter_shape(1024, 5, TripleScheme::file_id),
            (FilterShape{BloomShape{1024, 5}, TripleScheme::file_id}));

  const FilterShape counting{CountingBloomShape{1000, 3, 8, 200}, TripleScheme::file_id};
  EXPECT_EQ(counting.kind(), FilterKind::counting_bloom);
  EXPECT_EQ(counting.scheme_name(), "triple");
  EXPECT_EQ(counting.num_positions(), 1000u);
  EXPECT_EQ(counting.counter_bits(), 8u);
  EXPECT_EQ(counting.made_for_theta(), 200u);
  EXPECT_EQ(counting.largest_theta(), 200u);
  EXPECT_EQ(counting.num_bytes(), 1000u);

  const FilterShape threshold{ThresholdShape{640, 3, 5}};
  EXPECT_EQ(threshold.kind(), FilterKind::threshold);
  EXPECT_EQ(threshold.num_hashes(), 3u);
  EXPECT_EQ(threshold.counter_bits(), 3u);
  EXPECT_EQ(threshold.made_for_theta(), 5u);
  EXPECT_EQ(threshold.largest_theta(), 5u);
  EXPECT_EQ(threshold.num_bytes(), 8u * 31);  // 21 counters a word

  const FilterShape dleft{DLeftShape{.buckets_per_subtable = 100,
                                     .num_subtables = 3,
                                     .cells_per_bucket = 7,
                                     .counter_bits = 2,
                                     .least_remainder_bits = 13,
                                     .num_doublings = 1,
                                     .spill_capacity = 3},
                          RotationBuckets::file_id};
  EXPECT_EQ(dleft.kind(), FilterKind::dleft);
  EXPECT_EQ(dleft.scheme_name(), "rotation");
  EXPECT_EQ(dleft.num_positions(), 4200u);
  EXPECT_EQ(dleft.num_hashes(), 3u);
  EXPECT_EQ(dleft.counter_bits(), 2u);
  EXPECT_EQ(dleft.made_for_theta(), std::nullopt);
  EXPECT_EQ(dleft.largest_theta(), ~std::uint64_t{0});
  EXPECT_EQ(dleft.num_bytes(), 8u * (1050 + 1) + 16 * 8);  // 4200 cells of 16 bits, 8 slots
}

TEST(FilterShape, OfASketchSaysWhatItsRowsSay) {
  const FilterShape sketch{CountMinShape{101, 3, 2, 16, CounterUpdate::conservative}, TwoHashRows::file_id};
  EXPECT_EQ(sketch.kind(), FilterKind::count_min);
  EXPECT_EQ(sketch.scheme_name(), "two-hash");
  EXPECT_EQ(sketch.num_positions(), 606u);
  EXPECT_EQ(sketch.num_hashes(), 6u);
  EXPECT_EQ(sketch.counter_bits(), 16u);
  EXPECT_EQ(sketch.made_for_theta(), std::nullopt);
  EXPECT_EQ(sketch.largest_theta(), 65535u);
  EXPECT_EQ(sketch.num_bytes(), 8u * 152);
  const auto round = [](std::uint64_t width, std::uint16_t scheme, Rounding rounding) {
    const FilterShape rounded =
        round_to_scheme({CountMinShape{.width = width, .depth = 2}, scheme}, rounding);
    return std::get<CountMinShape>(rounded.shape).width;
  };
  EXPECT_EQ(round(100, DefaultRows::file_id, Rounding::up), 100u);
  EXPECT_EQ(round(100, TwoHashRows::file_id, Rounding::up), 101u);
  EXPECT_EQ(round(100, TwoHashRows::file_id, Rounding::down), 97u);
  expect_refused([&] { round(1, TwoHashRows::file_id, Rounding::down); }, {"width is 1; must be greater"});
  expect_refused([&] { round(0, DefaultRows::file_id, Rounding::up); }, {"width is 0"});
  expect_refused([&] { round(100, DefaultScheme::file_id, Rounding::up); }, {"RowScheme: file_id is 1"});
}

TEST(FilterShape, RoundsToWhatTheSchemeCanUse) {
  const auto round = [](std::uint64_t num_bits, std::uint16_t scheme, Rounding rounding) {
    return round_to_scheme(bloom_filter_shape(num_bits, 4, scheme), rounding).num_positions();
  };
  EXPECT_EQ(round(1000, DefaultScheme::file_id, Rounding::up), 1000u);
  EXPECT_EQ(round(1000, BlockedScheme::file_id, Rounding::up), 1024u);
  EXPECT_EQ(round(1000, BlockedScheme::file_id, Rounding::down), 512u);
  EXPECT_EQ(round(1000, RegisterBlockedScheme::file_id, Rounding::down), 512u);
  const auto rounded_hashes = [](std::uint32_t num_hashes, Rounding rounding) {
    return round_to_scheme(bloom_filter_shape(512, num_hashes, RegisterBlockedScheme::file_id), rounding)
        .num_hashes();
  };
  EXPECT_EQ(rounded_hashes(1, Rounding::down), 8u);
  EXPECT_EQ(rounded_hashes(8, Rounding::up), 8u);
  EXPECT_EQ(rounded_hashes(9, Rounding::down), 16u);
  EXPECT_EQ(rounded_hashes(1024, Rounding::up), 1024u);
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

  const auto round_dleft = [](std::uint64_t num_buckets, std::uint16_t scheme, Rounding rounding) {
    const FilterShape rounded =
        round_to_scheme({DLeftShape{.buckets_per_subtable = num_buckets}, scheme}, rounding);
    return std::get<DLeftShape>(rounded.shape).buckets_per_subtable;
  };
  EXPECT_EQ(round_dleft(1000, RotationBuckets::file_id, Rounding::up), 1000u);
  EXPECT_EQ(round_dleft(1000, MultiplierBuckets::file_id, Rounding::up), 1024u);
  EXPECT_EQ(round_dleft(1000, MultiplierBuckets::file_id, Rounding::down), 512u);
  expect_refused([&] { round_dleft(0, MultiplierBuckets::file_id, Rounding::up); },
                 {"buckets_per_subtable is 0"});
  expect_refused([&] { round_dleft(8, DefaultScheme::file_id, Rounding::up); },
                 {"BucketScheme: file_id is 1"});
}

TEST(AnyFilter, HasTheShapeItWasMadeWith) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter(shape, 7);
    EXPECT_EQ(filter.shape(), shape);
    EXPECT_EQ(filter.kind(), shape.kind());
    EXPECT_EQ(filter.hasher(), KeyHasher(7));
    EXPECT_EQ(filter.words().size_bytes() + filter.side_words().size_bytes(), shape.num_bytes());
    EXPECT_EQ(filter.totals(), FilterTotals{});
    EXPECT_EQ(filter.can_remove(), is_counting_bloom(shape.kind()) || filter.can_fill_up());
    EXPECT_EQ(filter.has_threshold(), shape.kind() == FilterKind::threshold);
    EXPECT_EQ(filter.is_sketch(), shape.kind() == FilterKind::count_min);
    EXPECT_EQ(filter.can_count(), filter.can_remove() || filter.has_threshold() || filter.is_sketch());
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
        else if constexpr (requires { inside.at_least(keys[i]); })
          EXPECT_EQ(contained[i], inside.at_least(keys[i]));
        else EXPECT_EQ(contained[i], inside.count(keys[i]).value > 0);
      }
    });
    if (!filter.can_count()) continue;
    Flags enough(keys.size());
    std::vector<Count> counts(keys.size());
    filter.at_least_batch(keys, shape.largest_theta(), enough.span());
    filter.count_batch(keys, counts);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(enough[i], counts[i].value >= shape.largest_theta());
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
  EXPECT_EQ(without.insert_batch(keys), 0u);
  EXPECT_TRUE(std::ranges::equal(with.words(), without.words()));
  EXPECT_EQ(without.totals().num_insertions, 450u);
  for (std::size_t i = 300; i < states.size(); ++i) EXPECT_EQ(states[i], ThresholdState::at_least);
}

const FilterShape sketch_shape{CountMinShape{.width = 101, .depth = 3, .counter_bits = 8},
                               PairwiseRows::file_id};

TEST(AnyFilter, ASketchTakesWeightsAndGivesEstimatesWithTheirBounds) {
  AnyFilter sketch(sketch_shape, 42);
  CountMinSketch<PairwiseRows> twin(std::get<CountMinShape>(sketch_shape.shape), 42);
  const std::vector<Hash128> keys = sample_keys(42, 30);
  std::vector<std::uint64_t> weights(30);
  for (std::size_t i = 0; i < 30; ++i) weights[i] = 3 * i;
  weights[7] = 1000;  // more than a counter of 8 bits holds
  EXPECT_EQ(sketch.add_batch(keys, weights), twin.add_batch(keys, weights));
  EXPECT_EQ(sketch.insert_batch(keys), 0u);
  twin.add_batch(keys);
  sketch.halve();
  twin.halve();
  EXPECT_TRUE(std::ranges::equal(sketch.words(), twin.storage().words()));
  EXPECT_EQ(sketch.totals(),
            (FilterTotals{.num_insertions = twin.total_count(), .rounding = twin.rounding()}));
  EXPECT_GT(twin.rounding(), 0u);
  std::vector<CountEstimate> estimates(30);
  sketch.estimate_batch(keys, estimates);
  Flags enough(30);
  sketch.at_least_batch(keys, 40, enough.span());
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(estimates[i], twin.estimate(keys[i]));
    EXPECT_EQ(enough[i], estimates[i].value >= 40);
  }
  EXPECT_TRUE(estimates[7].saturated);
  EXPECT_EQ(sketch.count_min_bound()->epsilon, twin.bound().epsilon);
  EXPECT_EQ(sketch.statistics().num_saturated, twin.num_saturated());
  EXPECT_EQ(sketch.statistics().num_insertions, twin.total_count());
}

TEST(AnyFilter, StatisticsOfASketchEstimateItsKeysAndHowManyAbsentOnesPass) {
  AnyFilter sketch({CountMinShape{.width = 2003, .depth = 4}, TwoHashRows::file_id}, 42);
  test::insert_all(sketch, sample_keys(42, 1000));
  const FilterStatistics statistics = sketch.statistics();
  EXPECT_EQ(statistics.num_positions, 8012u);
  EXPECT_EQ(statistics.num_insertions, 1000u);
  EXPECT_NEAR(statistics.estimated_num_keys, 1000, 4 * statistics.estimated_num_keys_standard_error);
  const std::vector<Hash128> all = sample_keys(42, 101000);
  const std::span<const Hash128> absent = std::span(all).subspan(1000);
  Flags passes(absent.size());
  sketch.may_contain_batch(absent, passes.span());
  const auto num_passed = static_cast<double>(std::ranges::count(passes.span(), true));
  const double expected = statistics.estimated_false_positive_rate * static_cast<double>(absent.size());
  EXPECT_NEAR(num_passed, expected, 4 * std::sqrt(expected));
}

TEST(AnyFilter, RefusesWhatItsKindDoesNotHaveAndStaysAsItWas) {
  AnyFilter bloom = filled({BloomShape{1013, 5}});
  AnyFilter counting = filled({CountingBloomShape{307, 4}});
  AnyFilter threshold = filled({ThresholdShape{307, 4, 3}});
  AnyFilter sketch = filled(sketch_shape);
  const std::vector<Hash128> keys = sample_keys(42, 2);
  const std::vector<std::uint64_t> weights(2);
  std::vector<CountEstimate> estimates(2);
  Flags flags(2);
  std::vector<Count> counts(2);
  std::vector<RemoveResult> removed(2);
  std::vector<ThresholdState> states(2);
  const std::vector<std::uint64_t> before(bloom.words().begin(), bloom.words().end());
  expect_refused(
      [&] { bloom.remove_batch(keys, removed); },
      {"remove: a bloom filter does not support this; use a counting-bloom, dleft, compact-dleft or "
       "blocked-counting-bloom filter"});
  expect_refused([&] { threshold.remove_batch(keys, removed); }, {"remove: a threshold filter"});
  expect_refused([&] { bloom.count_batch(keys, counts); },
                 {"count: a bloom",
                  "counting-bloom, threshold, dleft, count-min, compact-dleft or blocked-counting-bloom"});
  expect_refused([&] { bloom.at_least_batch(keys, 2, flags.span()); }, {"at_least: a bloom"});
  expect_refused([&] { bloom.add_batch(keys, weights); }, {"add with weights: a bloom", "count-min filter"});
  expect_refused([&] { counting.estimate_batch(keys, estimates); }, {"estimate: a counting-bloom"});
  expect_refused([&] { counting.halve(); }, {"halve: a counting-bloom"});
  expect_refused([&] { sketch.remove_batch(keys, removed); }, {"remove: a count-min"});
  expect_refused([&] { (void)sketch.try_grow(); }, {"growth: a count-min"});
  expect_refused([&] { sketch.at_least_batch(keys, 256, flags.span()); }, {"theta is 256; must be 1 to 255"});
  EXPECT_FALSE(counting.count_min_bound().has_value());
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
        make({BlockedBloomShape{1000, 5}, BlockedScheme::file_id});
      },
      {"BlockedBloomFilter: num_bits is 1000; must be 512 or 1024"});
  expect_refused(
      [&] {
        make({BloomShape{1024, 5}, BlockedScheme::file_id});
      },
      {"BloomFilter: scheme is 'blocked'", "only a BlockedBloomShape has 'blocked' or 'register-blocked'"});
  expect_refused(
      [&] {
        make({BlockedBloomShape{1024, 5}, DefaultScheme::file_id});
      },
      {"BlockedBloomFilter: scheme is 'congruential'; must be 'blocked'"});
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
  const auto make_sketch = [&](CountMinShape shape, std::uint16_t scheme) { make({shape, scheme}); };
  expect_refused([&] { make_sketch({.width = 100, .depth = 3}, TwoHashRows::file_id); },
                 {"CountMinSketch: width is 100; must be 97 or 101"});
  expect_refused([&] { make_sketch({.width = 100, .depth = 3}, DefaultScheme::file_id); },
                 {"RowScheme: file_id is 1", "32 (congruential)"});
  expect_refused([&] { make_sketch({.width = 100, .depth = 3, .counter_bits = 4}, DefaultRows::file_id); },
                 {"CountMinSketch: counter_bits is 4"});
  expect_refused([&] { make({BloomShape{1000, 5}, DefaultRows::file_id}); }, {"HashScheme: file_id is 32"});
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
    test::insert_all(b, others);
    EXPECT_TRUE(a.merge(b));
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
    expect_refused([&] { (void)mine.merge(filled(other, hasher)); },
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

FilterShape dleft_shape(std::uint64_t num_buckets, std::uint64_t spill_capacity, bool grows = false) {
  return {DLeftShape{.buckets_per_subtable = num_buckets,
                     .num_subtables = 2,
                     .cells_per_bucket = 8,
                     .remainder_bits = 14,
                     .counter_bits = 2,
                     .least_remainder_bits = 8,
                     .spill_capacity = spill_capacity,
                     .grows = grows},
          RotationBuckets::file_id};
}

TEST(AnyFilter, ADLeftFilterSaysHowManyKeysItRefusedAndKeepsTheOthers) {
  AnyFilter filter(dleft_shape(16, 4), 42);                 // 256 cells
  const std::vector<Hash128> keys = sample_keys(42, 3000);  // more than a window
  const std::uint64_t num_full = filter.insert_batch(keys);
  EXPECT_GT(num_full, 3000u - 270);  // some share a cell
  EXPECT_LT(num_full, 3000u - 200);
  EXPECT_EQ(filter.totals().num_full, num_full);
  EXPECT_EQ(filter.totals().num_insertions, 3000 - num_full);
  EXPECT_EQ(filter.dleft_statistics()->table.num_keys, 3000 - num_full);
  EXPECT_EQ(filter.totals().num_fingerprints, filter.statistics().num_nonzero);

  AnyFilter growing(dleft_shape(16, 4, true), 42);
  EXPECT_EQ(growing.insert_batch(keys), 0u);
  EXPECT_GT(growing.shape().num_positions(), 3000u);
  Flags found(keys.size());
  growing.may_contain_batch(keys, found.span());
  EXPECT_EQ(std::ranges::count(found.span(), true), 3000);
}

TEST(AnyFilter, AMergeThatDoesNotFitSaysSoAndChangesNothing) {
  AnyFilter mine(dleft_shape(16, 4), 42);
  AnyFilter other(dleft_shape(16, 4), 42);
  const std::vector<Hash128> keys = sample_keys(42, 400);
  test::insert_all(mine, {keys.begin(), keys.begin() + 200});
  test::insert_all(other, {keys.begin() + 200, keys.end()});
  const std::vector<std::uint64_t> before(mine.words().begin(), mine.words().end());
  const FilterTotals totals = mine.totals();
  EXPECT_FALSE(mine.merge(other));
  EXPECT_TRUE(std::ranges::equal(mine.words(), before));
  EXPECT_EQ(mine.totals(), totals);
}

TEST(AnyFilter, AMergeGrowsADLeftFilterThatMayGrow) {
  AnyFilter mine(dleft_shape(16, 4, true), 42);
  AnyFilter other(dleft_shape(16, 4), 42);
  const std::vector<Hash128> keys = sample_keys(42, 440);
  test::insert_all(mine, {keys.begin(), keys.begin() + 220});
  test::insert_all(other, {keys.begin() + 220, keys.end()});
  EXPECT_FALSE(AnyFilter(other).merge(mine));
  EXPECT_TRUE(mine.merge(other));
  EXPECT_EQ(mine.shape().num_positions(), 512u);
  Flags found(keys.size());
  mine.may_contain_batch(keys, found.span());
  EXPECT_EQ(std::ranges::count(found.span(), true), 440);
}

TEST(AnyFilter, ADLeftFilterGrowsUntilItsRemaindersHaveNoBitToSpare) {
  AnyFilter filter(dleft_shape(16, 4), 42);
  const std::vector<Hash128> keys = sample_keys(42, 200);
  test::insert_all(filter, keys);
  EXPECT_TRUE(filter.can_grow());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(filter.try_grow());
  EXPECT_FALSE(filter.try_grow());
  EXPECT_EQ(filter.shape().num_positions(), 256u << 6);
  Flags found(keys.size());
  filter.may_contain_batch(keys, found.span());
  EXPECT_EQ(std::ranges::count(found.span(), true), 200);
  AnyFilter bloom(FilterShape{BloomShape{1013, 5}}, 42);
  EXPECT_FALSE(bloom.can_grow());
  expect_refused([&] { (void)bloom.try_grow(); },
                 {"growth: a bloom filter does not support this; use a dleft filter"});
}

TEST(AnyFilter, ADLeftFilterCountsAsFarAsAnyoneAsks) {
  AnyFilter filter(dleft_shape(16, 4), 42);
  const std::vector<Hash128> keys = sample_keys(42, 2);
  test::insert_all(filter, std::vector<Hash128>(1'000'000, keys[0]));
  Flags enough(2);
  filter.at_least_batch(keys, 1'000'000, enough.span());
  EXPECT_TRUE(enough[0]);
  EXPECT_FALSE(enough[1]);
  filter.at_least_batch(keys, 1'000'001, enough.span());
  EXPECT_FALSE(enough[0]);
  expect_refused([&] { filter.at_least_batch(keys, 0, enough.span()); },
                 {"theta is 0; must be 1 to 18446744073709551615"});
  std::vector<RemoveResult> removed(2);
  filter.remove_batch(keys, removed);
  EXPECT_EQ(removed, (std::vector{RemoveResult::removed, RemoveResult::refused}));
  EXPECT_EQ(filter.totals(), (FilterTotals{1'000'000, 1, 1, 0, 0, 1}));
}

TEST(AnyFilter, StatisticsOfADLeftFilterAreThoseOfItsTable) {
  AnyFilter filter(dleft_shape(64, 100), 42);  // 1024 cells
  const std::vector<Hash128> keys = sample_keys(42, 500);
  test::insert_all(filter, keys);
  test::insert_all(filter, std::vector<Hash128>(9, keys[7]));
  const FilterStatistics statistics = filter.statistics();
  const std::uint64_t num_fingerprints = filter.totals().num_fingerprints;
  EXPECT_EQ(statistics.num_positions, 1024u);
  EXPECT_EQ(statistics.num_nonzero, num_fingerprints);
  EXPECT_EQ(statistics.num_saturated, 0u);
  EXPECT_EQ(statistics.num_insertions, 509u);
  EXPECT_EQ(statistics.histogram.front(), (HistogramBin{0, 0, 1024 - num_fingerprints}));
  EXPECT_EQ(statistics.histogram.back(), (HistogramBin{5, ~std::uint64_t{0}, 1}));
  // 64 buckets of 2^14 - 2^6 remainders: 500 keys share a fingerprint with probability 0.1.
  EXPECT_NEAR(statistics.estimated_num_keys, 500, 3);
  EXPECT_GT(statistics.estimated_num_keys_standard_error, 0.05);
  EXPECT_LT(statistics.estimated_num_keys_standard_error, 1);
  EXPECT_DOUBLE_EQ(statistics.estimated_false_positive_rate,
                   static_cast<double>(num_fingerprints) / (64 * (16384 - 64)));
  EXPECT_EQ(filter.dleft_statistics()->table.num_spilled, 1u);
  EXPECT_FALSE(filled({BloomShape{1013, 5}}).dleft_statistics().has_value());
}

}  // namespace
}  // namespace tally

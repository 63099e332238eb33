#include <optional>

#include "describe.hpp"
#include "fail_each.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/sets/shared_entry_set.hpp"
#include "tally/shared.hpp"

// What a structure does where there is no memory: every request of every operation is refused once.

namespace tally::test {
namespace {

/// The same kind with three times the positions, so that the two shapes take different memory.
FilterShape larger(FilterShape shape) {
  const auto grow = [](std::uint64_t& size) { size *= 3; };
  if (auto* const bloom = std::get_if<BloomShape>(&shape.shape)) grow(bloom->num_bits);
  if (auto* const blocked = std::get_if<BlockedBloomShape>(&shape.shape)) grow(blocked->num_bits);
  if (auto* const blocked = std::get_if<BlockedCountingBloomShape>(&shape.shape)) grow(blocked->num_counters);
  if (auto* const counting = std::get_if<CountingBloomShape>(&shape.shape)) grow(counting->num_counters);
  if (auto* const threshold = std::get_if<ThresholdShape>(&shape.shape)) grow(threshold->num_counters);
  if (auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) grow(dleft->buckets_per_subtable);
  if (auto* const count_min = std::get_if<CountMinShape>(&shape.shape)) grow(count_min->width);
  return round_to_scheme(shape, Rounding::up);
}

/// use(name, make(is_large)) for every kind, scheme and width of filter, as itself: BloomFilter, CountingBloomFilter,
/// ThresholdFilter, DLeftCountingBloomFilter and CountMinSketch, of every row scheme (AnyWidthRows: CongruentialRows,
/// IndependentRows, PairwiseRows; TwoHashRows). Their words are AlignedWords.
template <class Use>
void for_each_filter(Use use) {
  for (const FilterShape& shape : sample_shapes()) {
    const auto make_any = [&](bool is_large) { return filled(is_large ? larger(shape) : shape); };
    make_any(false).visit([&]<class Filter>(const Filter&) {
      use(describe(shape), [&](bool is_large) {
        return make_any(is_large).visit([](const auto& filter) -> Filter {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(filter)>, Filter>) return filter;
          else throw std::logic_error("another kind");
        });
      });
    });
  }
}

TEST(Allocation, AFilterIsCopiedAndAssignedWholeOrNotAtAll) {
  for_each_filter([](const std::string& name, auto make) { fail_each_copy(name, make, describes); });
}

TEST(Allocation, AnAnyFilterIsCopiedAndAssignedWholeOrNotAtAll) {
  const std::vector<FilterShape> shapes = sample_shapes();
  for (std::size_t i = 0; i + 1 < shapes.size(); i += 7) {
    fail_each_copy(
        "AnyFilter", [&](bool is_large) { return filled(shapes[is_large ? i : i + 1]); }, describes);
  }
}

TEST(Allocation, AFilterIsMadeWholeOrNotAtAll) {
  for (const FilterShape& shape : sample_shapes()) {
    const auto describe_it = [](const std::optional<AnyFilter>& filter) {
      return filter ? describe_all(*filter) : Bytes{};
    };
    EXPECT_GT(
        fail_each(
            describe(shape), [] { return std::optional<AnyFilter>(); },
            [&](std::optional<AnyFilter>& filter) { filter.emplace(shape, KeyHasher(42)); }, describe_it),
        0u);
    const Bytes bytes = serialize(filled(shape));
    EXPECT_GT(fail_each(
                  describe(shape) + " read", [] { return std::optional<AnyFilter>(); },
                  [&](std::optional<AnyFilter>& filter) { filter.emplace(deserialize(bytes)); }, describe_it),
              0u);
    EXPECT_GT(fail_each(
                  describe(shape) + " written", [] { return Bytes(); },
                  [&, filter = filled(shape)](Bytes& written) { written = serialize(filter); },
                  [](const Bytes& written) { return written; }),
              0u);
  }
}

TEST(Allocation, AMergeIsOfAllOrOfNothing) {
  for (const FilterShape& shape : sample_shapes()) {
    AnyFilter other(shape, 42);
    insert_all(other, sample_keys(42, 20));
    fail_each(
        describe(shape) + " merged", [&] { return filled(shape); },
        [&](AnyFilter& filter) { EXPECT_TRUE(filter.merge(other)); }, describes);
  }
}

TEST(Allocation, WhatAFilterSaysOfItselfChangesNothing) {
  for (const FilterShape& shape : sample_shapes()) {
    fail_each(
        describe(shape) + " described", [&] { return filled(shape); },
        [](const AnyFilter& filter) {
          (void)filter.statistics();
          (void)filter.dleft_statistics();
          (void)filter.shape();
          (void)filter.totals();
        },
        describes);
  }
}

DLeftShape doubling_shape() {
  DLeftShape shape = sample_dleft_shapes()[1];
  shape.num_doublings = 1;
  shape.grows = true;
  return shape;
}

TEST(Allocation, ADLeftFilterGrowsAndHalvesWholeOrNotAtAll) {
  const FilterShape shape{doubling_shape(), RotationBuckets::file_id};
  const auto make = [&] { return std::get<0>(std::tuple(DLeftCountingBloomFilter<>(doubling_shape(), 42))); };
  EXPECT_GT(fail_each(
                "grown", make, [](auto& filter) { EXPECT_TRUE(filter.try_grow()); }, describes),
            0u);
  EXPECT_GT(fail_each(
                "halved", make, [](auto& filter) { EXPECT_TRUE(filter.try_halve()); }, describes),
            0u);
  AnyFilter any = filled(shape);
  EXPECT_GT(fail_each(
                "any grown", [&] { return any; }, [](AnyFilter& filter) { EXPECT_TRUE(filter.try_grow()); },
                describes),
            0u);
}

// An insertion is noexcept: if a filter cannot double because memory runs out, it is full.
TEST(Allocation, ADLeftFilterThatCannotDoubleIsFullAndLosesNothing) {
  DLeftCountingBloomFilter<> filter(doubling_shape(), 42);
  const std::vector<Hash128> keys = sample_keys(42, 2000);
  std::size_t num_inserted = 0;
  for (bool is_full = false; !is_full; ++num_inserted) {
    ASSERT_LT(num_inserted, keys.size());
    const FailingAllocation failing(0);
    is_full = filter.insert(keys[num_inserted]) == InsertResult::full;
    ASSERT_EQ(is_full, FailingAllocation::has_failed());
  }
  --num_inserted;
  EXPECT_EQ(filter.totals().num_full, 1u);
  EXPECT_EQ(filter.shape().num_doublings, 1u);
  for (std::size_t i = 0; i < num_inserted; ++i) EXPECT_TRUE(filter.may_contain(keys[i]));
  EXPECT_EQ(filter.insert(keys[num_inserted]), InsertResult::counted);
  EXPECT_EQ(filter.shape().num_doublings, 2u);
  for (std::size_t i = 0; i <= num_inserted; ++i) EXPECT_TRUE(filter.may_contain(keys[i]));
}

template <class Shared, class... Arguments>
void expect_whole_or_not_at_all(const std::string& name, const Arguments&... arguments) {
  EXPECT_GT(fail_each(
                name, [] { return std::unique_ptr<Shared>(); },
                [&](std::unique_ptr<Shared>& shared) { shared = std::make_unique<Shared>(arguments..., 42); },
                [](const std::unique_ptr<Shared>& shared) { return shared != nullptr; }),
            1u);
}

TEST(Allocation, AFilterForThreadsIsMadeWholeOrNotAtAll) {
  expect_whole_or_not_at_all<SharedThresholdFilter<>>("SharedThresholdFilter", ThresholdShape{3000, 3, 3});
  expect_whole_or_not_at_all<SharedDuplicateFilter>("SharedDuplicateFilter", DuplicateShape{64'000, 3});
  expect_whole_or_not_at_all<SharedBloomFilter<>>("SharedBloomFilter", BloomShape{64'000, 3});
  expect_whole_or_not_at_all<SharedCountingBloomFilter<BlockedScheme>>(
      "SharedCountingBloomFilter", BlockedCountingBloomShape{12'800, 3, 4, 1});
  expect_whole_or_not_at_all<SharedShards<CompactDLeftFilter>>("SharedShards", 3u, CompactDLeftShape{20});
  expect_whole_or_not_at_all<SharedCountMinSketch<>>("SharedCountMinSketch", CountMinShape{1000, 3, 1, 32});
}

auto describe_compact(const CompactDLeftFilter& filter) {
  const detail::CompactTable& table = filter.table();
  return std::tuple(Numbers{filter.shape().num_lines_per_subtable, table.num_fingerprints(),
                            filter.totals().num_insertions},
                    numbers_of(table.words().words()), describe_all(table.spills()));
}

CompactDLeftFilter filled_compact(bool is_large) {
  CompactDLeftFilter filter({.num_lines_per_subtable = is_large ? 60u : 20u}, 42);
  for (int i = 0; i < 6; ++i) {
    for (const Hash128 key : sample_keys(42, 200)) EXPECT_EQ(filter.insert(key), InsertResult::counted);
    if (i == 0) continue;
    for (const Hash128 key : sample_keys(42, 170)) EXPECT_EQ(filter.remove(key), RemoveResult::removed);
  }
  EXPECT_GT(filter.table().spills().size(), 0u);
  return filter;
}

TEST(Allocation, ACompactDLeftFilterIsCopiedAndAssignedWholeOrNotAtAll) {
  fail_each_copy("CompactDLeftFilter", filled_compact, describe_compact);
}

TEST(Allocation, ACompactDLeftFilterIsMadeWholeOrNotAtAll) {
  EXPECT_EQ(fail_each(
                "CompactDLeftFilter", [] { return std::optional<CompactDLeftFilter>(); },
                [](std::optional<CompactDLeftFilter>& filter) {
                  filter.emplace(CompactDLeftShape{.num_lines_per_subtable = 100}, KeyHasher(42));
                },
                [](const std::optional<CompactDLeftFilter>& filter) { return filter.has_value(); }),
            2u);
}

TEST(Allocation, ACompactDLeftFilterMergesAllOrNothing) {
  const CompactDLeftFilter other = filled_compact(false);
  EXPECT_EQ(fail_each(
                "CompactDLeftFilter merged", [] { return filled_compact(false); },
                [&](CompactDLeftFilter& filter) { EXPECT_TRUE(filter.merge(other)); }, describe_compact),
            2u);
}

TEST(Allocation, OperationsOnKeysOfACompactDLeftFilterRequestNoMemory) {
  const std::vector<Hash128> keys = sample_keys(1, 3000);
  std::vector<InsertResult> inserted(keys.size());
  std::vector<RemoveResult> removed(keys.size());
  std::vector<Count> counts(keys.size());
  CompactDLeftFilter filter({.num_lines_per_subtable = 20}, 42);
  const FailingAllocation failing(0);
  filter.insert_batch(keys, std::span(inserted));
  for (const Hash128 key : keys) (void)filter.insert(key);
  filter.count_batch(keys, std::span(counts));
  filter.remove_batch(keys, std::span(removed));
  for (const Hash128 key : keys) (void)filter.remove(key);
  EXPECT_FALSE(FailingAllocation::has_failed());
  EXPECT_GT(filter.totals().num_full, 0u);
  EXPECT_GT(filter.totals().num_rescues, 0u);
  EXPECT_GT(filter.totals().num_refused_removes, 0u);
}

}  // namespace
}  // namespace tally::test

#include "describe.hpp"
#include "fail_each.hpp"

// Sketches and the most frequent keys, where there is no memory.

namespace tally::test {
namespace {

constexpr CountMinShape sketch_shape{101, 3, 1, 32, CounterUpdate::plain};
constexpr CountMinShape large_shape{2003, 4, 1, 64, CounterUpdate::plain};

/// Long enough that each key takes memory of its own.
std::string long_key(std::uint64_t i, std::size_t num_bytes = 60) {
  std::string key = std::to_string(i);
  key.resize(num_bytes, '.');
  return key;
}

template <class Top>
Top with_keys(Top top, std::uint64_t num_keys) {
  for (std::uint64_t i = 0; i < num_keys; ++i) top.add(long_key(i), 1 + i % 7);
  return top;
}

TopKeys<> top_keys(bool is_large) {
  return with_keys(TopKeys<>(is_large ? 40 : 5, is_large ? large_shape : sketch_shape, 42), 20);
}
SpaceSaving space_saving(bool is_large) { return with_keys(SpaceSaving(is_large ? 40 : 5, 42), 20); }

CountMinWindow<> window(bool is_large) {
  CountMinWindow<> window(is_large ? large_shape : sketch_shape, 42);
  window.add(std::uint64_t{1}, 5);
  window.advance();
  window.add(std::uint64_t{1}, 7);
  return window;
}

TEST(Allocation, SketchesAreCopiedAndAssignedWholeOrNotAtAll) {
  fail_each_copy("TopKeys", top_keys, describes);
  fail_each_copy("SpaceSaving", space_saving, describes);
  fail_each_copy("CountMinWindow", window, describes);
  fail_each_copy(
      "CountedKeys", [](bool is_large) { return top_keys(is_large).candidates(); }, describes);
}

TEST(Allocation, AKeyIsCountedWholeOrNotAtAll) {
  const auto add = [](auto& top) { top.add(long_key(100, 200), 1000); };
  for (const bool has_room : {false, true}) {
    EXPECT_GT(fail_each(
                  "TopKeys", [&] { return top_keys(has_room); }, add, describes),
              0u);
    EXPECT_GT(fail_each(
                  "SpaceSaving", [&] { return space_saving(has_room); }, add, describes),
              0u);
  }
}

/// Of a batch that finds no memory the keys before the one that it fails at are counted, and none behind.
template <class Make>
void expect_a_first_part_is_added(Make make) {
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 30; ++i) texts.push_back(long_key(200 + i, 100 + 100 * i));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  std::vector<Hash128> digests;
  for (const std::string_view key : keys) digests.push_back(KeyHasher(42)(key));
  const std::vector<std::uint64_t> weights(keys.size(), 1000);
  std::size_t last_added = 0;
  for (std::uint64_t which = 0;; ++which) {
    auto top = make();
    const std::uint64_t total_before = top.total_count();
    bool has_thrown = false;
    {
      const FailingAllocation failing(which);
      try {
        top.add_batch(keys, digests, weights);
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      }
    }
    const std::size_t num_added = (top.total_count() - total_before) / 1000;
    auto twin = make();
    for (std::size_t i = 0; i < num_added; ++i) twin.add(keys[i], 1000);
    ASSERT_TRUE(describe_all(top) == describe_all(twin)) << which;
    ASSERT_EQ(has_thrown, num_added < keys.size()) << which;
    if (!has_thrown) break;
    ASSERT_GE(num_added, last_added);
    last_added = num_added;
  }
  EXPECT_GT(last_added, 15u);
}

TEST(Allocation, OfABatchAFirstPartIsCountedAndTheTotalSaysHowMuch) {
  for (const bool has_room : {false, true}) {
    expect_a_first_part_is_added([&] { return top_keys(has_room); });
    expect_a_first_part_is_added([&] { return space_saving(has_room); });
  }
}

TEST(Allocation, ClearingNeedsNoMemory) {
  const auto needs_none = [](auto top) {
    const FailingAllocation failing(0);
    top.clear();
    return !FailingAllocation::has_failed() && top.total_count() == 0;
  };
  EXPECT_TRUE(needs_none(top_keys(false)));
  EXPECT_TRUE(needs_none(space_saving(false)));
  TopKeys<> top = top_keys(false);
  top.clear();
  const TopKeys<> fresh(5, sketch_shape, 42);
  EXPECT_TRUE(describe_all(top) == describe_all(fresh));
  EXPECT_TRUE(describe_all(with_keys(top, 20)) == describe_all(top_keys(false)));
}

TEST(Allocation, WhatASketchSaysChangesNothing) {
  EXPECT_GT(fail_each(
                "top", [] { return top_keys(true); }, [](TopKeys<>& top) { (void)top.top(3); }, describes),
            0u);
  EXPECT_GT(
      fail_each(
          "top", [] { return space_saving(true); }, [](SpaceSaving& top) { (void)top.top(3); }, describes),
      0u);
  const CountMinSketch<> sketch(sketch_shape, 42);
  fail_each(
      "inner_product", [&] { return sketch; },
      [&](CountMinSketch<>& object) { (void)object.inner_product(sketch); }, describes);
}

/// A copy has room for the keys in it and no more.
TEST(Allocation, ACopyTakesMoreKeysWholeOrNotAtAll) {
  const auto add = [](auto& top) { top.add(long_key(100, 200), 1000); };
  const TopKeys<> top = top_keys(true);
  EXPECT_GT(fail_each(
                "TopKeys copied", [&] { return top; }, add, describes),
            4u);
  const SpaceSaving saving = space_saving(true);
  EXPECT_GT(fail_each(
                "SpaceSaving copied", [&] { return saving; }, add, describes),
            4u);
  const CountedKeys keys = top.candidates();
  EXPECT_GT(fail_each(
                "CountedKeys copied", [&] { return keys; },
                [](CountedKeys& table) {
                  table.add(long_key(100), {{7, 7}, 5, 1});
                },
                describes),
            4u);
}

TEST(Allocation, SketchesMergeWholeOrNotAtAll) {
  for (const bool has_room : {false, true}) {
    SpaceSaving saving = space_saving(has_room);
    saving.add(long_key(70), 100);
    EXPECT_GT(fail_each(
                  "SpaceSaving merged", [&] { return space_saving(has_room); },
                  [&](SpaceSaving& top) { top.merge(saving); }, describes),
              3u);
    TopKeys<> other = top_keys(has_room);
    other.add(long_key(70), 100);
    EXPECT_GT(fail_each(
                  "TopKeys merged", [&] { return top_keys(has_room); },
                  [&](TopKeys<>& top) { top.merge(other); }, describes),
              4u);
  }
  const CountMinWindow<> other = window(false);
  fail_each(
      "CountMinWindow merged", [] { return window(false); }, [&](CountMinWindow<>& one) { one.merge(other); },
      describes);
}

}  // namespace
}  // namespace tally::test

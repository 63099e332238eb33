#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counting_memory.hpp"
#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "sample_summaries.hpp"
#include "tally/summaries/delta.hpp"
#include "tally/summaries/set.hpp"

// What a SummarySet makes of messages that are short for their shapes, and how it keeps to max_total_bytes.

namespace tally {
namespace {

constexpr std::uint64_t huge_bits = std::uint64_t{1} << 31;
constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;

SummaryLayout bits_layout(std::uint64_t num_bits) {
  return layout_of(BloomShape{.num_bits = num_bits, .num_hashes = 3}, DefaultScheme::file_id, 42);
}

/// Units from 0 on, `step` apart.
SummaryDelta every(std::uint64_t step, const SummaryLayout& layout, std::uint64_t end) {
  SummaryDelta delta{layout, {}};
  for (std::uint64_t unit = 0; unit < end; unit += step) delta.changes.push_back({unit, 1});
  return delta;
}

std::uint64_t digest_of_changes(const SummaryDelta& delta) {
  std::uint64_t digest = 0;
  for (const UnitChange& change : delta.changes) digest ^= unit_digest(change.unit, change.value);
  return digest;
}

/// A full copy, coded as changes, without a table of its units.
test::MessageBytes full_of(const std::string& name, const SummaryDelta& units) {
  test::MessageBytes bytes =
      delta_message({name, {1000, 1}, digest_of_changes(units), test::sample_time}, 0, units);
  test::set_field<std::uint16_t>(bytes, 10, static_cast<std::uint16_t>(SummaryMessageKind::full));
  test::repair_checksums(bytes);
  return bytes;
}

TEST(SummarySet, AShortMessageOfAHugeShapeTakesLittleMemory) {
  const test::CountingMemory memory;
  SummarySet set({.hasher = 42});
  const SummaryLayout layout = bits_layout(huge_bits);
  const test::MessageBytes none = full_of("a", {layout, {}});
  EXPECT_LE(none.size(), 130u);
  (void)set.apply(none);
  EXPECT_LT(set.num_bytes(), 200'000u);
  const test::MessageBytes one = full_of("b", {layout, {{1'500'000'000, 1}}});
  EXPECT_LE(one.size(), 136u);
  (void)set.apply(one);
  EXPECT_LT(set.num_bytes(), 300'000u);
  EXPECT_LT(test::CountingMemory::peak_bytes(), 200'000u);
  EXPECT_EQ(set.unit(*set.find("b"), 1'500'000'000), 1u);
  EXPECT_EQ(set.unit(*set.find("a"), 1'500'000'000), 0u);
}

TEST(SummarySet, AThousandPeersOfAHugeShapeTakeWhatTheirUnitsTake) {
  SummarySet set({.hasher = 42});
  const SummaryLayout layout = bits_layout(huge_bits);
  for (std::uint64_t i = 0; i < 500; ++i) {
    (void)set.apply(full_of("none" + std::to_string(i), {layout, {}}));
    (void)set.apply(full_of("one" + std::to_string(i), {layout, {{i, 1}}}));
  }
  EXPECT_EQ(set.num_peers(), 1000u);
  EXPECT_LT(set.num_bytes(), 200'000'000u);
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(set.unit(*set.find("one" + std::to_string(i)), i), 1u);
    EXPECT_EQ(set.unit(*set.find("none" + std::to_string(i)), i), 0u);
  }
}

TEST(SummarySet, AShapeThatAloneExceedsTheMemoryOfAllIsRefusedWhateverTheMessage) {
  const test::CountingMemory memory;
  SummarySet set({.hasher = 42, .max_total_bytes = megabyte});
  const SummaryLayout layout = bits_layout(16 * megabyte);
  const std::vector<std::string> expected = {"number of bytes is 2097152; must be at most 1048576",
                                             "max_bytes_per_peer"};
  test::expect_refused([&] { (void)set.apply(full_of("a", {layout, {{5, 1}}})); }, expected);
  test::expect_refused(
      [&] {
        (void)set.apply(heartbeat_message({"a", {1000, 1}, 0, test::sample_time}, layout));
      },
      expected);
  EXPECT_EQ(set.num_peers(), 0u);
  EXPECT_EQ(test::CountingMemory::peak_bytes(), 0u);
}

/// Peers join until one is refused. At most an eighth of a segment's columns are spare.
void expect_filled_to_the_limit(const SummaryDelta& units, std::uint64_t max_total_bytes) {
  const test::CountingMemory memory;
  SummarySet set({.hasher = 42, .max_total_bytes = max_total_bytes});
  std::uint64_t num_peers = 0;
  test::expect_refused(
      [&] {
        for (; num_peers < 1000; ++num_peers)
          (void)set.apply(full_of("peer" + std::to_string(num_peers), units));
      },
      {"total bytes of all copies is", "(max_total_bytes)"});
  EXPECT_GE(num_peers, 100u);
  EXPECT_EQ(set.num_peers(), num_peers);
  EXPECT_LE(set.num_bytes(), max_total_bytes);
  EXPECT_GE(set.num_bytes(), max_total_bytes / 10 * 9);
  EXPECT_LE(test::CountingMemory::peak_bytes(), max_total_bytes);
  EXPECT_GE(test::CountingMemory::peak_bytes(), max_total_bytes / 10 * 9);
  EXPECT_EQ(set.unit(*set.find("peer99"), units.changes.back().unit), units.changes.back().value);
}

TEST(SummarySet, UsesAllItsMemoryAndNeverMoreWhilePeersJoin) {
  // 128 columns of half a megabyte.
  expect_filled_to_the_limit(every(1000, bits_layout(4 * megabyte), 4 * megabyte), 65 * megabyte);
  // 113 columns.
  const SummaryLayout cells =
      layout_of(DLeftShape{.buckets_per_subtable = 8192, .num_subtables = 4, .cells_per_bucket = 8},
                RotationBuckets::file_id, 42);
  expect_filled_to_the_limit(every(100, cells, cells.num_units()), 58 * megabyte);
}

TEST(SummarySet, ADeltaThatNeedsMoreThanTheMemoryOfAllIsRefusedAndChangesNothing) {
  SummarySet set({.hasher = 42, .max_total_bytes = megabyte});
  const SummaryLayout layout = bits_layout(4 * megabyte);
  const SummaryDelta few = every(1000, layout, 200'000);
  for (const char* name : {"a", "b", "c"}) (void)set.apply(full_of(name, few));
  const SummarySet::Peer peer = *set.find("c");
  const std::uint64_t num_bytes = set.num_bytes();

  // Every unit of `few` is flipped back.
  SummaryDelta many = every(1000, layout, layout.num_units());
  const std::uint64_t digest = digest_of_changes(few) ^ digest_of_changes(many);
  test::expect_refused(
      [&] {
        (void)set.apply(delta_message({"c", {1000, 2}, digest, test::sample_time}, 1, many));
      },
      {"total bytes of all copies is", "must be at most 1048576 (max_total_bytes)"});
  EXPECT_EQ(set.num_bytes(), num_bytes);
  EXPECT_EQ(set.status(peer).held.sequence, 1u);
  EXPECT_EQ(set.status(peer).newest.sequence, 1u);
  EXPECT_FALSE(set.status(peer).has_diverged);
  EXPECT_EQ(set.status(peer).num_nonzero, few.changes.size());
  EXPECT_EQ(set.unit(peer, 1000), 1u);
  EXPECT_EQ(set.unit(peer, 1'000'000), 0u);

  const SummaryDelta more{layout, {{1000, 1}, {300'000, 1}}};
  EXPECT_EQ(
      set
          .apply(delta_message(
              {"c", {1000, 2}, digest_of_changes(few) ^ digest_of_changes(more), test::sample_time}, 1, more))
          .result,
      ApplyResult::applied);
  EXPECT_EQ(set.unit(peer, 1000), 0u);
  EXPECT_EQ(set.unit(peer, 300'000), 1u);
  EXPECT_GT(set.num_bytes(), num_bytes);
}

}  // namespace
}  // namespace tally

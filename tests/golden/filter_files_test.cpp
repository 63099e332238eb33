// The format of files for ever: every file in data/golden is the one that today's code writes, and is read right.
// A file that is missing is written when TALLY_WRITE_GOLDEN is set; one that is there is never replaced.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

using test::Bytes;
using test::read_bytes;

struct Golden {
  const char* name;
  FilterShape shape;
  KeyHasher hasher = 42;
};

FilterShape bits(std::uint64_t num_bits, std::uint16_t scheme) {
  return bloom_filter_shape(num_bits, 4, scheme);
}

FilterShape counters(std::uint32_t counter_bits, std::uint64_t max_threshold, std::uint16_t scheme = 1) {
  return {CountingBloomShape{93, 3, counter_bits, max_threshold}, scheme};
}

/// Cells that count to 2: three keys of five have something in the side table.
FilterShape cells(std::uint16_t scheme, std::uint32_t num_doublings) {
  return {DLeftShape{.buckets_per_subtable = 4,
                     .num_subtables = 2,
                     .cells_per_bucket = 8,
                     .remainder_bits = 11,
                     .counter_bits = 1,
                     .least_remainder_bits = 9,
                     .num_doublings = num_doublings,
                     .spill_capacity = 20,
                     .grows = num_doublings != 0},
          scheme};
}

FilterShape sketch(std::uint16_t scheme, std::uint32_t counter_bits, std::uint32_t num_copies = 1,
                   CounterUpdate update = CounterUpdate::plain) {
  return {CountMinShape{31, 3, num_copies, counter_bits, update}, scheme};
}

/// Three keys of five are held more than once, two of them also by the side table.
FilterShape lines(std::uint32_t remainder_bits) {
  return {CompactDLeftShape{2, remainder_bits, 20}, RotationBuckets::file_id};
}

FilterShape blocked_counters(std::uint32_t counter_bits, std::uint64_t max_threshold, std::uint64_t m) {
  return {BlockedCountingBloomShape{m, 3, counter_bits, max_threshold}, BlockedScheme::file_id};
}

std::vector<Golden> golden_files() {
  const KeyHasher keyed = KeyHasher::keyed(test::sample_hash_key());
  return {
      {"bloom-congruential", bits(300, 1)},
      {"bloom-blocked", bits(512, 2)},
      {"bloom-standard", bits(300, 3)},
      {"bloom-partitioned", bits(300, 4)},
      {"bloom-double", bits(300, 5)},
      {"bloom-enhanced-double-quadratic", bits(300, 6)},
      {"bloom-enhanced-double-cubic", bits(300, 7)},
      {"bloom-triple", bits(300, 8)},
      {"bloom-partition-double", bits(4 * 73, 9)},
      {"bloom-register-blocked", bloom_filter_shape(512, 8, 10)},
      {"bloom-keyed", bits(300, 1), keyed},
      {"counting-bloom-1-bit", counters(1, 1)},
      {"counting-bloom-3-bits", counters(3, 7)},
      {"counting-bloom-4-bits", counters(4, 1)},
      {"counting-bloom-7-bits", counters(7, 100)},
      {"counting-bloom-16-bits", counters(16, 1000)},
      {"counting-bloom-32-bits", counters(32, 1)},
      {"counting-bloom-64-bits", counters(64, ~std::uint64_t{0})},
      {"counting-bloom-partition-double", counters(4, 1, 9)},
      {"counting-bloom-keyed", counters(4, 1), keyed},
      {"blocked-counting-bloom-4-bits", blocked_counters(4, 1, 256)},
      {"blocked-counting-bloom-7-bits", blocked_counters(7, 100, 144)},
      {"blocked-counting-bloom-16-bits", blocked_counters(16, 1000, 96)},
      {"threshold-2-plain", {ThresholdShape{93, 3, 2, CounterUpdate::plain}}},
      {"threshold-5-plain", {ThresholdShape{93, 3, 5, CounterUpdate::plain}}},
      {"threshold-5-conservative", {ThresholdShape{93, 3, 5, CounterUpdate::conservative}}},
      {"threshold-300-conservative", {ThresholdShape{93, 3, 300, CounterUpdate::conservative}}},
      {"threshold-partitioned", {ThresholdShape{93, 3, 3, CounterUpdate::plain}, 4}},
      {"compact-dleft-8-bits", lines(8)},
      {"compact-dleft-9-bits", lines(9)},
      {"compact-dleft-13-bits", lines(13)},
      {"compact-dleft-keyed", lines(9), keyed},
      {"dleft-rotation", cells(16, 0)},
      {"dleft-rotation-doubled", cells(16, 1)},
      {"dleft-multiplier", cells(17, 0)},
      {"dleft-multiplier-doubled", cells(17, 2)},
      {"dleft-keyed", cells(16, 0), keyed},
      {"count-min-congruential", sketch(32, 32)},
      {"count-min-independent", sketch(33, 8)},
      {"count-min-pairwise", sketch(34, 16, 1, CounterUpdate::conservative)},
      {"count-min-two-hash", sketch(35, 64, 2)},
      {"count-min-keyed", sketch(32, 32), keyed},
  };
}

std::string path_of(const Golden& golden) {
  return std::string(TALLY_TEST_DATA_DIR) + "/golden/" + golden.name + ".tally";
}

TEST(GoldenFiles, HoldTheVeryBytesThatTheFilterWritesToday) {
  for (const Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.name);
    const AnyFilter filter = test::filled(golden.shape, golden.hasher);
    if (std::getenv("TALLY_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path_of(golden))) {
      save(filter, path_of(golden));
    }
    EXPECT_EQ(read_bytes(path_of(golden)), serialize(filter));
  }
}

TEST(GoldenFiles, AreAllOfThoseInTheDirectory) {
  std::size_t num_files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TALLY_TEST_DATA_DIR) + "/golden")) {
    num_files += entry.path().extension() == ".tally";
  }
  EXPECT_EQ(num_files, golden_files().size());
}

TEST(GoldenFiles, AnswerForTheKeysInThem) {
  for (const Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.name);
    const AnyFilter filter = load(path_of(golden), test::sample_hash_key());
    EXPECT_EQ(filter.shape(), golden.shape);
    EXPECT_EQ(filter.hasher(), golden.hasher);
    FilterTotals totals{90, filter.can_remove() ? 10u : 0u, 0};
    totals.num_fingerprints = filter.totals().num_fingerprints;
    EXPECT_EQ(filter.totals(), totals);
    const std::vector<Hash128> keys = test::sample_keys(filter.hasher(), 30);
    test::Flags passes(keys.size());
    filter.may_contain_batch(keys, passes.span());
    std::vector<Count> counts(keys.size());
    if (filter.can_count()) filter.count_batch(keys, counts);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t truth = i % 5 + 1 - (filter.can_remove() && i % 3 == 0);
      const std::uint64_t needed = filter.has_threshold() ? *golden.shape.made_for_theta() : 1;
      if (truth >= needed) {
        EXPECT_TRUE(passes[i]) << i;
      }
      if (filter.can_count()) {
        EXPECT_TRUE(counts[i].saturated || counts[i].value >= truth) << i;
      }
    }
  }
}

/// How many of 1000 keys that are not in it a filter of bits lets pass: the positions of other keys
/// cannot drift either.
std::size_t num_false_positives(const AnyFilter& filter) {
  std::vector<Hash128> keys = test::sample_keys(filter.hasher(), 1030);
  keys.erase(keys.begin(), keys.begin() + 30);
  test::Flags passes(keys.size());
  filter.may_contain_batch(keys, passes.span());
  return static_cast<std::size_t>(std::ranges::count(passes.span(), true));
}

TEST(GoldenFiles, LetThoseForeignKeysPassThatTheyAlwaysDid) {
  std::string found;
  for (const Golden& golden : golden_files()) {
    if (golden.shape.kind() != FilterKind::bloom && golden.shape.kind() != FilterKind::blocked_bloom)
      continue;
    const AnyFilter filter = load(path_of(golden), test::sample_hash_key());
    found += std::string(golden.name) + " " + std::to_string(num_false_positives(filter)) + "\n";
  }
  EXPECT_EQ(found,
            "bloom-congruential 15\n"
            "bloom-blocked 1\n"
            "bloom-standard 20\n"
            "bloom-partitioned 12\n"
            "bloom-double 12\n"
            "bloom-enhanced-double-quadratic 15\n"
            "bloom-enhanced-double-cubic 21\n"
            "bloom-triple 13\n"
            "bloom-partition-double 18\n"
            "bloom-register-blocked 1\n"
            "bloom-keyed 14\n");
}

TEST(FileFormat, IsByteByByteWhatItsPageSays) {
  // 70 counters of 3 bits: 21 a word, so 4 words, of which the last holds 7. The digest 0 has its first position at
  // 0 and, its increment being 1, its second at floor(70 x 1 / 2^64) = 0 too: counter 0 becomes 4.
  AnyFilter filter({CountingBloomShape{70, 2, 3, 6}}, 0x1122334455667788u);
  const Hash128 zero[] = {{0, 0}, {0, 0}, {0, 0}};
  EXPECT_EQ(filter.insert_batch(zero), 0u);
  RemoveResult removed{};
  filter.remove_batch(std::span(zero, 1), std::span(&removed, 1));
  const std::string expected =
      "8954414c4c590d0a"   //   0 magic
      "0100"               //   8 format version 1
      "0300"               //  10 kind 3: counting-bloom
      "0100"               //  12 hash 1: xxh3-128
      "0100"               //  14 scheme 1: congruential
      "8877665544332211"   //  16 seed
      "4600000000000000"   //  24 num_positions 70
      "02000000"           //  32 num_hashes 2
      "0300"               //  36 counter_bits 3
      "0000"               //  38 update policy
      "0600000000000000"   //  40 threshold 6
      "0300000000000000"   //  48 num_insertions 3
      "0100000000000000"   //  56 num_removes 1
      "0000000000000000"   //  64 num_refused_removes
      "0000000000000000"   //  72 reserved
      "0000000000000000"   //  80
      "0000000000000000"   //  88
      "0000000000000000"   //  96
      "2000000000000000"   // 104 body length 32
      "a9944a56d48cf73a"   // 112 XXH3-64 of the body
      "65e4c5654559ca5c"   // 120 XXH3-64 of bytes 0 to 119
      "0400000000000000"   // 128 counters 0 to 20
      "0000000000000000"   // 136 counters 21 to 41
      "0000000000000000"   // 144 counters 42 to 62
      "0000000000000000";  // 152 counters 63 to 69
  std::string found;
  for (const std::byte byte : serialize(filter)) {
    constexpr const char* digits = "0123456789abcdef";
    found += digits[std::to_integer<unsigned>(byte) >> 4];
    found += digits[std::to_integer<unsigned>(byte) & 15];
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace tally

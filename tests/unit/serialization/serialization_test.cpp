#include "tally/serialization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "random.hpp"
#include "sample_filters.hpp"
#include "tally/detail/compact/line_cells.hpp"

namespace tally {
namespace {

using test::Bytes;
using test::describe;
using test::filled;
using test::repair_checksums;
using test::sample_shapes;
using test::set_field;

const FilterShape bloom_shape{BloomShape{1013, 5}};
const FilterShape counting_shape{CountingBloomShape{307, 4, 4, 5}};
const FilterShape threshold_shape{ThresholdShape{307, 4, 5}};
// Counts to 2 in its 84 cells, so that most keys have something in the side table too.
const FilterShape dleft_shape{DLeftShape{.buckets_per_subtable = 2,
                                         .num_subtables = 3,
                                         .cells_per_bucket = 7,
                                         .remainder_bits = 15,
                                         .counter_bits = 1,
                                         .least_remainder_bits = 10,
                                         .num_doublings = 1,
                                         .spill_capacity = 40},
                              RotationBuckets::file_id};

// Four lines of 43 cells, which hold each key up to three times; two keys of five have something in the side table too.
const FilterShape compact_shape{
    CompactDLeftShape{.num_lines_per_subtable = 2, .remainder_bits = 9, .spill_capacity = 40},
    RotationBuckets::file_id};

const FilterShape sketch_shape{CountMinShape{.width = 101, .depth = 3, .num_copies = 2, .counter_bits = 8},
                               TwoHashRows::file_id};
const std::vector<FilterShape> one_of_each = {bloom_shape, counting_shape, threshold_shape,
                                              dleft_shape, compact_shape,  sketch_shape};

/// The bytes must be refused with a message that holds `reason` and names the byte `offset`.
void expect_bad(const Bytes& bytes, const std::string& reason, std::uint64_t offset) {
  test::expect_format_error([&] { deserialize(bytes); }, reason, offset);
}

bool is_refused(const Bytes& bytes) {
  return test::throws_format_error([&] { deserialize(bytes); });
}

/// The file of a filter of this shape with one field changed, and all checksums right.
template <class Integer>
Bytes altered(const FilterShape& shape, std::size_t at, Integer value) {
  Bytes bytes = serialize(filled(shape));
  set_field(bytes, at, value);
  repair_checksums(bytes);
  return bytes;
}

TEST(Serialization, DeserializeIsTheInverseOfSerializeForEveryKindSchemeAndWidth) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    const Bytes bytes = serialize(filter);
    EXPECT_EQ(bytes.size(), 128 + shape.num_bytes());
    const AnyFilter copy = deserialize(bytes);
    EXPECT_EQ(copy.shape(), shape);
    EXPECT_EQ(copy.hasher(), filter.hasher());
    EXPECT_EQ(copy.totals(), filter.totals());
    EXPECT_TRUE(std::ranges::equal(copy.words(), filter.words()));
    EXPECT_EQ(serialize(copy), bytes);
  }
}

TEST(Serialization, HoldsForEveryNumberOfPositionsAroundTheEndsOfWords) {
  for (std::uint64_t m = 1; m <= 130; ++m) {
    for (const FilterShape& shape :
         {FilterShape{BloomShape{m, 2}}, FilterShape{CountingBloomShape{m, 2, 3, 2}},
          FilterShape{CountingBloomShape{m, 2, 64, 2}}}) {
      const Bytes bytes = serialize(filled(shape));
      EXPECT_EQ(serialize(deserialize(bytes)), bytes) << m << " " << describe(shape);
    }
  }
}

TEST(Serialization, ReadsBytesAtAnyAlignment) {
  const Bytes bytes = serialize(filled(counting_shape));
  Bytes shifted(bytes.size() + 1);
  std::ranges::copy(bytes, shifted.begin() + 1);
  EXPECT_EQ(serialize(deserialize(std::span(shifted).subspan(1))), bytes);
}

TEST(Serialization, AHeaderAloneSaysWhatTheFilterIs) {
  Bytes bytes = serialize(filled(threshold_shape));
  bytes.resize(file_header_bytes);
  const FileHeader header = read_header(bytes);
  EXPECT_EQ(header.shape, threshold_shape);
  EXPECT_EQ(header.hash_id, HashId::xxh3_128);
  EXPECT_EQ(header.seed_or_key_id, 42u);
  EXPECT_EQ(header.totals.num_insertions, 90u);
  EXPECT_EQ(header.body_bytes(), threshold_shape.num_bytes());
}

TEST(Serialization, RefusesAFileCutAtEveryByte) {
  for (const FilterShape& shape : one_of_each) {
    const Bytes whole = serialize(filled(shape));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      expect_bad({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)},
                 length == 0 ? "it is empty" : "length is", length);
    }
  }
}

TEST(Serialization, RefusesEveryFlippedBit) {
  for (const FilterShape& shape : one_of_each) {
    Bytes bytes = serialize(filled(shape));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_TRUE(is_refused(bytes)) << "bit " << bit;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(Serialization, WithChecksumsRepairedAFlippedBitIsRefusedOrKept) {
  for (const FilterShape& shape : one_of_each) {
    const Bytes whole = serialize(filled(shape));
    std::size_t num_kept = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      Bytes bytes = whole;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      repair_checksums(bytes);
      if (is_refused(bytes)) continue;
      EXPECT_EQ(serialize(deserialize(bytes)), bytes) << "bit " << bit;
      ++num_kept;
    }
    if (shape.kind() == FilterKind::dleft) {
      EXPECT_GE(num_kept, 500u);  // a cell in use has some 14 bits that may be another
    } else if (shape.kind() == FilterKind::compact_dleft) {
      EXPECT_GE(num_kept, 30u);  // of keys with one cell, for which no other number changes
    } else {
      EXPECT_GE(num_kept, shape.num_positions() * shape.counter_bits());
    }
  }
}

TEST(Serialization, RefusesTrailingBytes) {
  Bytes bytes = serialize(filled(bloom_shape));
  bytes.resize(bytes.size() + 1);
  expect_bad(bytes, "length is 257 bytes; must be 256: there are bytes after the end", 256);
}

TEST(Serialization, RefusesWhatIsNoFilterFile) {
  expect_bad({}, "it is empty", 0);
  expect_bad(Bytes(4096), "this is not a tally file", 0);
  Bytes as_text = serialize(filled(bloom_shape));
  as_text.erase(as_text.begin() + 6);  // \r\n made \n
  expect_bad(as_text, "this is not a tally file", 6);
}

TEST(Serialization, NamesTheFieldThatIsOutOfRange) {
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto u64 = [](std::uint64_t value) { return value; };
  expect_bad(altered(bloom_shape, 8, u16(0)), "format version is 0; must be 1", 8);
  expect_bad(altered(bloom_shape, 8, u16(2)), "format version is 2; must be 1", 8);
  for (const int kind : {0, 12, 0x101, 0xffff}) {
    expect_bad(altered(bloom_shape, 10, u16(kind)), "kind is " + std::to_string(kind) + "; must be 1 (bloom)",
               10);
  }
  for (const int id : {0, 3, 0xffff}) {
    expect_bad(altered(bloom_shape, 12, u16(id)),
               "hash id is " + std::to_string(id) + "; must be 1 (xxh3-128)", 12);
  }
  for (const int id : {0, AllSchemes::most_id + 1, 0xffff}) {
    expect_bad(altered(bloom_shape, 14, u16(id)),
               "scheme id is " + std::to_string(id) + "; must be 1 to " + std::to_string(AllSchemes::most_id),
               14);
  }
  expect_bad(altered(bloom_shape, 14, u16(2)),
             "scheme id is 2; must be 2 (blocked) or 10 (register-blocked) for the kind blocked-bloom, 2 for "
             "blocked-counting-bloom",
             14);
  expect_bad(altered(bloom_shape, 10, u16(2)), "scheme id is 1; must be 2 (blocked)", 14);
  expect_bad(altered(counting_shape, 14, u16(2)), "scheme id is 2", 14);
  expect_bad(altered(counting_shape, 14, u16(10)), "scheme id is 10", 14);
  expect_bad(altered(bloom_shape, 24, u64(0)), "num_positions is 0; must be 1 to 72057594037927936", 24);
  expect_bad(altered(bloom_shape, 24, max_num_positions + 1), "num_positions is 72057594037927937", 24);
  expect_bad(altered(bloom_shape, 24, ~u64(0)), "num_positions is 18446744073709551615", 24);
  for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1025}, std::int64_t{0xffffffff}}) {
    expect_bad(altered(bloom_shape, 32, u32(k)), "num_hashes is " + std::to_string(k) + "; must be 1 to 1024",
               32);
  }
  expect_bad(altered(bloom_shape, 36, u16(2)), "counter_bits is 2; must be 1 for Bloom filters", 36);
  for (const int bits : {0, 9, 15, 63, 65, 0xffff}) {
    expect_bad(altered(counting_shape, 36, u16(bits)),
               "counter_bits is " + std::to_string(bits) + "; must be 1 to 8, 16, 32 or 64", 36);
  }
  expect_bad(altered(threshold_shape, 36, u16(4)), "counter_bits is 4; must be 3 for this threshold", 36);
  expect_bad(altered(bloom_shape, 38, u16(1)), "update policy is 1; must be 0 for this kind", 38);
  expect_bad(altered(counting_shape, 38, u16(1)), "update policy is 1; must be 0 for this kind", 38);
  expect_bad(altered(threshold_shape, 38, u16(2)), "update policy is 2; must be 0 to 1", 38);
  expect_bad(altered(bloom_shape, 40, u64(1)), "threshold is 1; must be 0 for Bloom filters", 40);
  expect_bad(altered(counting_shape, 40, u64(0)), "threshold is 0; must be 1 to 2^counter_bits - 1", 40);
  expect_bad(altered(counting_shape, 40, u64(16)), "threshold is 16; must be 1 to 2^counter_bits - 1", 40);
  expect_bad(altered(threshold_shape, 40, u64(0)), "threshold is 0; must be 1 to 4294967295", 40);
  expect_bad(altered(threshold_shape, 40, u64(1) << 32), "threshold is 4294967296; must be 1 to 4294967295",
             40);
  for (const FilterShape& shape : {bloom_shape, threshold_shape}) {
    expect_bad(altered(shape, 56, u64(1)), "num_removes is 1; must be 0 for this kind", 56);
    expect_bad(altered(shape, 64, u64(1)), "num_refused_removes is 1; must be 0 for this kind", 64);
  }
  for (std::size_t at = 72; at < 104; ++at) {
    expect_bad(altered(bloom_shape, at, std::uint8_t{7}), "reserved byte is 7; must be 0", at);
  }
}

TEST(Serialization, NamesTheFieldOfADLeftFilterThatIsOutOfRange) {
  const auto u8 = [](int value) { return static_cast<std::uint8_t>(value); };
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const auto u64 = [](std::uint64_t value) { return value; };
  const auto refused = [](std::size_t at, auto value, const char* reason) {
    expect_bad(altered(dleft_shape, at, value), reason, at);
  };
  for (const int id : {0, 1, 15, 18, 0xffff}) refused(14, u16(id), "must be 16 to 17 for the kind dleft");
  expect_bad(altered(bloom_shape, 14, u16(16)),
             "scheme id is 16; must be 1 to " + std::to_string(AllSchemes::most_id), 14);
  refused(24, u64(0), "num_positions is 0; must be 1 to 1099511627776 for the kind dleft");
  refused(24, (u64(1) << 40) + 1, "num_positions is 1099511627777");
  refused(24, u64(1) << 40, "num_positions: DLeftCountingBloomFilter: current buckets_per_subtable");
  refused(32, std::uint32_t{0}, "num_hashes is 0; must be 1 to 8 for the kind dleft");
  refused(32, std::uint32_t{9}, "num_hashes is 9");
  refused(36, u16(5), "counter_bits is 5; must be 0 to 4 for the kind dleft");
  refused(38, u16(3), "moves is 3; must be 0 to 2");
  refused(40, (u64(1) << 32) + 1, "spill_capacity is 4294967297; must be 0 to 4294967296");
  refused(72, u16(0), "cells_per_bucket is 0; must be 1 to 64");
  refused(72, u16(65), "cells_per_bucket is 65");
  refused(74, u8(0), "remainder_bits is 0; must be 1 to 32");
  refused(74, u8(33), "remainder_bits is 33");
  refused(74, u8(14), "remainder_bits is 14; must be 8, 12, 16, 24 or 32 less counter_bits");
  refused(75, u8(0), "least_remainder_bits is 0; must be 1 to 15");
  refused(75, u8(16), "least_remainder_bits is 16; must be 1 to 15");
  refused(76, u8(6), "num_doublings is 6; must be 0 to 5");
  refused(77, u8(2), "grows is 2; must be 0 to 1");
  refused(78, u8(1), "reserved byte is 1; must be 0");
  refused(79, u8(9), "reserved byte is 9; must be 0");
  refused(96, u64(85), "num_fingerprints is 85; must be 0 to 84, the number of cells");
  expect_bad(altered(dleft_shape, 104, u64(1)), "body length is 1; must be ", 104);
  Bytes multiplier = serialize(filled(dleft_shape));
  set_field<std::uint16_t>(multiplier, 14, MultiplierBuckets::file_id);
  set_field<std::uint64_t>(multiplier, 24, 3);
  repair_checksums(multiplier);
  expect_bad(multiplier, "buckets_per_subtable is 3; must be 2 or 4 for the scheme 'multiplier'", 24);
}

TEST(Serialization, NamesTheFieldOfACompactFilterThatIsOutOfRange) {
  const auto u8 = [](int value) { return static_cast<std::uint8_t>(value); };
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const auto u64 = [](std::uint64_t value) { return value; };
  const auto refused = [](std::size_t at, auto value, const char* reason) {
    expect_bad(altered(compact_shape, at, value), reason, at);
  };
  for (const int id : {0, 1, 17, 32}) refused(14, u16(id), "must be 16 for the kind compact-dleft");
  refused(24, u64(0), "num_positions is 0; must be 1 to 1099511627776 for the kind compact-dleft");
  refused(24, (u64(1) << 40) + 1, "num_positions is 1099511627777");
  refused(32, std::uint32_t{3}, "num_hashes is 3; must be 2 for the kind compact-dleft");
  refused(36, u16(1), "counter_bits is 1; must be 0 for the kind compact-dleft");
  refused(38, u16(1), "moves is 1; must be 0 (none) or 2 (search) for the kind compact-dleft");
  refused(38, u16(3), "moves is 3");
  refused(40, (u64(1) << 32) + 1, "spill_capacity is 4294967297; must be 0 to 4294967296");
  refused(72, u16(1), "reserved byte is 1; must be 0");
  refused(74, u8(7), "remainder_bits is 7; must be 8 to 14 for the kind compact-dleft");
  refused(74, u8(15), "remainder_bits is 15");
  refused(75, u8(1), "reserved byte is 1; must be 0");
  refused(96, u64(173), "num_fingerprints is 173; must be 0 to 172, the number of cells");
  refused(104, u64(1), "body length is 1; must be ");
}

// Four lines, bytes 128 to 383; then come 64 slots of two words.
TEST(Serialization, RefusesLinesThatACompactFilterDoesNotWrite) {
  const Bytes whole = serialize(filled(compact_shape));
  ASSERT_EQ(whole.size(), 128u + 4 * 64 + 16 * 64);
  const auto with = [&](std::size_t at, auto value) {
    Bytes bytes = whole;
    set_field(bytes, at, value);
    repair_checksums(bytes);
    return bytes;
  };
  const auto word = [&](std::size_t at) { return test::get_field<std::uint64_t>(whole, at); };
  expect_bad(with(96, word(96) - 1), "the number of fingerprints is ", 128);
  // Bit 42 of the starts of line 1, which is not full, says that all its cells are in use.
  constexpr std::size_t last_start = 9 * 43 + 42;
  const std::size_t at = 128 + 64 + last_start / 64 * 8;
  expect_bad(with(at, word(at) | std::uint64_t{1} << last_start % 64),
             "line 1 holds bits that no filter writes", 128 + 64);
  const std::size_t unused_cell = 128 + 64 + 42;
  ASSERT_EQ(whole[unused_cell], std::byte{0});
  expect_bad(with(unused_cell, std::uint8_t{1}), "line 1 holds bits that no filter writes", 128 + 64);
  // The last word has the occupied mini-buckets below 64.
  expect_bad(with(128 + 56, ~word(128 + 56)), "line 0 holds bits that no filter writes", 128);
}

TEST(Serialization, RefusesJustTheLinesThatAreWrittenInAnotherWay) {
  std::mt19937 random(9);
  for (std::uint32_t bits = least_compact_remainder_bits; bits <= max_compact_remainder_bits; ++bits) {
    const detail::CompactLayout layout(bits);
    int num_refused = 0;
    for (const std::uint64_t num_keys : {0, 1, 20, 50}) {
      AnyFilter filter(FilterShape{CompactDLeftShape{.num_lines_per_subtable = 1, .remainder_bits = bits},
                                   RotationBuckets::file_id},
                       42);
      for (std::uint64_t key = 0; key < num_keys; ++key) (void)filter.insert(filter.hasher()(key));
      const Bytes whole = serialize(filter);
      for (int trial = 0; trial < 300; ++trial) {
        Bytes bytes = whole;
        for (int i = 0; i <= trial % 3; ++i) bytes[128 + random() % 64] ^= std::byte{1} << random() % 8;
        repair_checksums(bytes);
        const auto* const line = reinterpret_cast<const unsigned char*>(bytes.data() + 128);
        std::array<unsigned char, 64> written;
        detail::CompactLineCells(layout, line).write(written.data());
        const bool is_other = !std::equal(written.begin(), written.end(), line);
        std::string error;
        try {
          (void)deserialize(bytes);
        } catch (const FormatError& refused) {
          error = refused.reason();
        }
        EXPECT_EQ(error == "line 0 holds bits that no filter writes", is_other) << bits << " " << error;
        num_refused += is_other ? 1 : 0;
      }
    }
    EXPECT_GT(num_refused, 200);
    EXPECT_LT(num_refused, 1190);
  }
}

TEST(Serialization, RefusesALineThatHoldsAFingerprintMoreOftenThanTheSideTableStartsAt) {
  AnyFilter filter(compact_shape, 42);
  test::insert_all(filter, std::vector<Hash128>(3, filter.hasher()(std::uint64_t{1})));
  Bytes bytes = serialize(filter);
  std::size_t used = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (bytes[128 + 64 * i + 56] != std::byte{0} || bytes[128 + 64 * i] != std::byte{0}) used = 128 + 64 * i;
  bytes[used + 3] = bytes[used];
  constexpr std::size_t starts = 9 * 43;
  const auto flip = [&](std::size_t bit) { bytes[used + bit / 8] ^= std::byte{1} << (bit % 8); };
  flip(starts + 2);
  flip(starts + 3);
  constexpr std::size_t plane = 8 * 43;
  const bool has_high_bit = (bytes[used + plane / 8] >> (plane % 8) & std::byte{1}) != std::byte{0};
  if (has_high_bit) flip(plane + 3);
  repair_checksums(bytes);
  expect_bad(bytes, "holds a fingerprint more than 3 times", used);
}

TEST(Serialization, RefusesASideTableThatACompactFilterDoesNotWrite) {
  const Bytes whole = serialize(filled(compact_shape));
  constexpr std::size_t side = 128 + 4 * 64;
  const auto at = [](std::size_t slot) { return side + 16 * slot; };
  const auto word = [&](std::size_t offset) { return test::get_field<std::uint64_t>(whole, offset); };
  std::size_t used = 0;
  while (word(at(used) + 8) == 0) ++used;
  // Another fingerprint whose search starts at the same slot.
  std::uint64_t other = word(at(used)) + 1;
  while (SpillTable::home(other, 64) != SpillTable::home(word(at(used)), 64)) ++other;
  for (const std::uint64_t fingerprint : {other, other | std::uint64_t{1} << 60}) {
    Bytes bytes = whole;
    set_field(bytes, at(used), fingerprint);
    repair_checksums(bytes);
    if (SpillTable::home(fingerprint, 64) != SpillTable::home(other, 64)) continue;
    expect_bad(bytes, "entry " + std::to_string(used) + " of the side table belongs to no cell", at(used));
  }
}

TEST(Serialization, NamesTheFieldOfASketchThatIsOutOfRange) {
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const auto u32 = [](int value) { return static_cast<std::uint32_t>(value); };
  const auto u64 = [](std::uint64_t value) { return value; };
  const auto refused = [](std::size_t at, auto value, const char* reason) {
    expect_bad(altered(sketch_shape, at, value), reason, at);
  };
  for (const int id : {0, 1, 16, 31, 36}) refused(14, u16(id), "must be 32 to 35 for the kind count-min");
  expect_bad(altered(bloom_shape, 14, u16(32)),
             "scheme id is 32; must be 1 to " + std::to_string(AllSchemes::most_id), 14);
  refused(24, u64(0), "num_positions is 0; must be 1 to 72057594037927936");
  refused(24, u64(100), "num_positions: CountMinSketch: width is 100; must be 97 or 101");
  refused(32, u32(0), "num_hashes is 0; must be 1 to 1024");
  expect_bad(altered(sketch_shape, 32, u32(600)), "num_copies is 2; must be 1 for this scheme and num_hashes",
             72);
  refused(36, u16(4), "counter_bits is 4; must be 8, 16, 32 or 64 for the kind count-min");
  refused(36, u16(24), "counter_bits is 24");
  refused(38, u16(2), "update policy is 2; must be 0 to 1");
  refused(40, u64(1), "threshold is 1; must be 0 for the kind count-min");
  refused(56, u64(1), "num_removes is 1; must be 0");
  refused(72, u32(0), "num_copies is 0; must be 1 to 341");
  refused(76, u32(1), "reserved byte is 1; must be 0");
  refused(88, u64(1), "reserved byte is 1; must be 0");
  expect_bad(altered(sketch_shape, 104, u64(1)), "body length is 1; must be ", 104);
  Bytes pairwise = serialize(filled({CountMinShape{.width = 101, .depth = 3}, PairwiseRows::file_id}));
  set_field<std::uint32_t>(pairwise, 72, 2);
  repair_checksums(pairwise);
  expect_bad(pairwise, "num_copies is 2; must be 1 for this scheme", 72);
}

TEST(Serialization, KeepsWhatHalvingsMayHaveAddedToASketch) {
  AnyFilter sketch = filled(sketch_shape);
  for (int i = 0; i < 3; ++i) sketch.halve();
  ASSERT_GT(sketch.totals().rounding, 0u);
  EXPECT_EQ(deserialize(serialize(sketch)).totals(), sketch.totals());
}

// 84 cells of 16 bits are 21 words and one more, bytes 128 to 303; then come 64 slots of two words.
TEST(Serialization, RefusesCellsThatADLeftFilterDoesNotWrite) {
  const Bytes whole = serialize(filled(dleft_shape));
  ASSERT_EQ(whole.size(), 128u + 8 * 22 + 16 * 64);
  const auto cell = [&](std::size_t i) { return test::get_field<std::uint16_t>(whole, 128 + 2 * i); };
  std::size_t used = 0, empty = 0;
  while (cell(used) == 0) ++used;
  while (cell(empty) != 0) ++empty;
  const auto with = [&](std::size_t at, auto value) {
    Bytes bytes = whole;
    set_field(bytes, at, value);
    repair_checksums(bytes);
    return bytes;
  };
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const std::string number = "the number of cells in use is ";
  expect_bad(with(128 + 2 * empty, u16(1)), number, 128);
  expect_bad(with(128 + 2 * used, u16(0)), number, 128);
  expect_bad(with(96, test::get_field<std::uint64_t>(whole, 96) - 1), number, 128);
  // The low 10 bits of a remainder are not all 0, and bit 14 has become one of the bucket.
  const std::string name = "cell " + std::to_string(used) + " holds an impossible remainder";
  expect_bad(with(128 + 2 * used, u16((cell(used) & 0xfc00) | 0x0400)), name, (128 + 2 * used));
  expect_bad(with(128 + 2 * used, u16(cell(used) | 0x4000)), name, (128 + 2 * used));
  expect_bad(with(296, std::uint64_t{1}), "an unused bit of the body's word 21 is set", 296);
}

TEST(Serialization, RefusesASideTableThatADLeftFilterDoesNotWrite) {
  const Bytes whole = serialize(filled(dleft_shape));
  constexpr std::size_t side = 128 + 8 * 22;
  const auto at = [](std::size_t slot) { return side + 16 * slot; };
  const auto word = [&](std::size_t offset) { return test::get_field<std::uint64_t>(whole, offset); };
  std::size_t used = 0, free_slot = 0;
  // The last one of its run.
  while (word(at(used) + 8) == 0 || word(at(used + 1) + 8) != 0) ++used;
  while (word(at(free_slot) + 8) != 0) ++free_slot;
  using Words = std::vector<std::pair<std::size_t, std::uint64_t>>;
  const auto with = [&](const Words& words) {
    Bytes bytes = whole;
    for (const auto& [offset, value] : words) set_field(bytes, offset, value);
    repair_checksums(bytes);
    return bytes;
  };
  const auto entry = [](std::size_t slot) { return "entry " + std::to_string(slot) + " of the side table "; };
  EXPECT_FALSE(is_refused(with({{at(used) + 8, 1'000'000}})));
  expect_bad(with({{at(free_slot), 1}}), entry(free_slot) + "is free but not 0", at(free_slot));
  expect_bad(with({{at(used) + 8, ~std::uint64_t{0}}}), "brings the sum above 2^63", at(used));
  expect_bad(with({{at(used + 1), word(at(used))}, {at(used + 1) + 8, 1}}),
             "the side table has two entries for the same fingerprint", side);
  // The entry of a free slot's run: its image moved to where no search comes by.
  std::size_t far = free_slot;
  for (std::size_t slot = 0; slot < 64; ++slot) {
    const std::size_t before = (slot + 63) % 64;
    if (word(at(slot) + 8) == 0 && word(at(before) + 8) == 0 &&
        slot != SpillTable::home(word(at(used)), 64)) {
      far = slot;
    }
  }
  expect_bad(with({{at(far), word(at(used))}, {at(far) + 8, 1}, {at(used), 0}, {at(used) + 8, 0}}),
             entry(far) + "is where no search finds it", at(far));
  // A fingerprint without a cell, at its home.
  std::uint64_t stranger = 1;
  while (SpillTable::home(stranger, 64) != far) ++stranger;
  expect_bad(with({{at(far), stranger}, {at(far) + 8, 1}}),
             entry(far) + "belongs to no cell whose counter is at its maximum", at(far));
  // More of them than the shape allows.
  Words full = {{40, 22}};
  for (std::size_t slot = 0; slot < 64; ++slot) full.emplace_back(at(slot) + 8, 1);
  expect_bad(with(full), entry(22) + "exceeds spill_capacity", at(22));
}

TEST(Serialization, RefusesPositionsThatTheSchemeCannotUse) {
  const auto refused = [](std::uint16_t scheme, const char* reason) {
    const FilterShape shape = round_to_scheme(bloom_filter_shape(1013, 5, scheme), Rounding::up);
    expect_bad(altered(shape, 24, shape.num_positions() + 1), reason, 24);
  };
  refused(BlockedScheme::file_id, "num_bits is 1025; must be 1024 or 1536 for the scheme 'blocked'");
  refused(RegisterBlockedScheme::file_id,
          "num_bits is 1025; must be 1024 or 1536 for the scheme 'register-blocked'");
  refused(PartitionedScheme::file_id, "num_bits is 1016; must be 1015 or 1020 for the scheme 'partitioned'");
  refused(PartitionDoubleScheme::file_id, "for the scheme 'partition-double'");
}

TEST(Serialization, RefusesABodyLengthThatTheParametersDoNotImply) {
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{136},
                                     std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    expect_bad(altered(bloom_shape, 104, length),
               "body length is " + std::to_string(length) + "; must be 128", 104);
  }
}

TEST(Serialization, RefusesClaimsOfMoreBytesThanThereAre) {
  Bytes bytes = serialize(filled(bloom_shape));
  set_field<std::uint64_t>(bytes, 24, max_num_positions);
  set_field<std::uint64_t>(bytes, 104, max_num_positions / 8);
  repair_checksums(bytes);
  expect_bad(bytes, "length is 256 bytes; must be 9007199254741120: the end is missing", 256);

  bytes = serialize(filled({CountingBloomShape{307, 4, 64, 5}}));
  set_field<std::uint64_t>(bytes, 24, max_num_positions);
  set_field<std::uint64_t>(bytes, 104,
                           max_num_positions * 8);  // 2^59 bytes, the largest claim that a header can make
  repair_checksums(bytes);
  expect_bad(bytes, "length is 2584 bytes; must be 576460752303423616: the end is missing", 2584);
}

TEST(Serialization, RefusesUnusedBitsThatAreSet) {
  const auto with_bit = [](const FilterShape& shape, std::size_t word, unsigned bit) {
    Bytes bytes = serialize(AnyFilter(shape, 1));
    bytes[128 + 8 * word + bit / 8] |= std::byte{1} << (bit % 8);
    repair_checksums(bytes);
    return bytes;
  };
  // 1013 bits end in word 15 with 53 of them.
  EXPECT_FALSE(is_refused(with_bit(bloom_shape, 15, 52)));
  expect_bad(with_bit(bloom_shape, 15, 53), "an unused bit of the body's word 15 is set", 128 + 8 * 15);
  expect_bad(with_bit(bloom_shape, 15, 63), "an unused bit of the body's word 15 is set", 128 + 8 * 15);
  // 21 counters of 3 bits a word leave its top bit unused; 50 counters end in word 2 with 8 of them.
  const FilterShape three_bits{CountingBloomShape{50, 4, 3, 5}};
  EXPECT_FALSE(is_refused(with_bit(three_bits, 0, 62)));
  expect_bad(with_bit(three_bits, 0, 63), "the body's word 0", 128);
  expect_bad(with_bit(three_bits, 1, 63), "the body's word 1", 136);
  EXPECT_FALSE(is_refused(with_bit(three_bits, 2, 23)));
  expect_bad(with_bit(three_bits, 2, 24), "the body's word 2", 144);
}

TEST(Serialization, NamesTheChecksumThatDoesNotMatch) {
  Bytes bytes = serialize(filled(bloom_shape));
  bytes[24] ^= std::byte{1};
  expect_bad(bytes, "the checksum of the header does not match", 120);
  bytes[24] ^= std::byte{1};
  bytes[130] ^= std::byte{1};
  expect_bad(bytes, "the checksum of the body does not match", 128);
}

TEST(Serialization, AKeyedFileNeedsItsKeyAndDoesNotHoldIt) {
  const HashKey key = test::sample_hash_key();
  const KeyHasher hasher = KeyHasher::keyed(key);
  const Bytes bytes = serialize(filled(bloom_shape, hasher));
  for (std::size_t at = 0; at < key.size(); at += 8) {  // nor any word of it
    EXPECT_EQ(std::search(bytes.begin(), bytes.end(), key.begin() + at, key.begin() + at + 8), bytes.end());
  }
  const AnyFilter loaded = deserialize(bytes, key);
  EXPECT_EQ(loaded.hasher(), hasher);
  EXPECT_EQ(loaded.hasher()(std::string_view("a")), hasher(std::string_view("a")));
  EXPECT_EQ(serialize(loaded), bytes);

  HashKey other = key;
  other[31] ^= std::byte{1};
  const std::string id = std::to_string(hasher.seed_or_key_id());
  test::expect_refused([&] { deserialize(bytes); },
                       {"keyed hash highwayhash-128", "key with the id " + id, "give that key"});
  test::expect_refused([&] { deserialize(bytes, other); },
                       {"key with the id " + id, "the given key has the id "});
  EXPECT_EQ(deserialize(serialize(filled(bloom_shape)), key).hasher(), KeyHasher(42));
}

TEST(Serialization, RandomBytesBehindAGoodHeaderAreHarmless) {
  test::Random random(20);
  for (const FilterShape& shape :
       {bloom_shape, counting_shape, threshold_shape, dleft_shape, compact_shape}) {
    for (int trial = 0; trial < 200; ++trial) {
      Bytes bytes = serialize(AnyFilter(shape, 1));
      for (std::size_t at = 128; at + 8 <= bytes.size(); at += 8) set_field(bytes, at, random.next());
      repair_checksums(bytes);
      if (is_refused(bytes)) continue;
      EXPECT_EQ(serialize(deserialize(bytes)), bytes);
    }
  }
}

}  // namespace
}  // namespace tally

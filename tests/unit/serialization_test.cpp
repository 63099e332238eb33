#include "tally/serialization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "random.hpp"
#include "sample_filters.hpp"

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

/// The bytes must be refused with a message that holds `reason` and names the byte `offset`.
void expect_bad(const Bytes& bytes, const std::string& reason, std::uint64_t offset) {
  try {
    deserialize(bytes);
  } catch (const FormatError& error) {
    EXPECT_THAT(error.reason(), ::testing::HasSubstr(reason));
    EXPECT_EQ(error.offset(), offset) << error.what();
    EXPECT_EQ(error.what(), "tally file: " + error.reason() + " (at byte " + std::to_string(offset) + ")");
    return;
  }
  ADD_FAILURE() << "nothing was refused; expected '" << reason << "'";
}

bool is_refused(const Bytes& bytes) {
  try {
    deserialize(bytes);
    return false;
  } catch (const FormatError&) {
    return true;
  }
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
  for (const FilterShape& shape : {bloom_shape, counting_shape, threshold_shape}) {
    const Bytes whole = serialize(filled(shape));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      expect_bad({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, "length is", length);
    }
  }
}

TEST(Serialization, RefusesEveryFlippedBit) {
  for (const FilterShape& shape : {bloom_shape, counting_shape, threshold_shape}) {
    Bytes bytes = serialize(filled(shape));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_TRUE(is_refused(bytes)) << "bit " << bit;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(Serialization, WithChecksumsRepairedAFlippedBitIsRefusedOrKept) {
  for (const FilterShape& shape : {bloom_shape, counting_shape, threshold_shape}) {
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
    EXPECT_GE(num_kept, shape.num_positions() * shape.counter_bits());
  }
}

TEST(Serialization, RefusesTrailingBytes) {
  Bytes bytes = serialize(filled(bloom_shape));
  bytes.resize(bytes.size() + 1);
  expect_bad(bytes, "length is 257 bytes; must be 256: there are bytes after the end", 256);
}

TEST(Serialization, RefusesWhatIsNoFilterFile) {
  expect_bad({}, "length is 0 bytes; must be at least 128", 0);
  expect_bad(Bytes(4096), "not a filter file", 0);
  Bytes as_text = serialize(filled(bloom_shape));
  as_text.erase(as_text.begin() + 6);  // \r\n made \n
  expect_bad(as_text, "not a filter file", 6);
}

TEST(Serialization, NamesTheFieldThatIsOutOfRange) {
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto u64 = [](std::uint64_t value) { return value; };
  expect_bad(altered(bloom_shape, 8, u16(0)), "format version is 0; must be 1", 8);
  expect_bad(altered(bloom_shape, 8, u16(2)), "format version is 2; must be 1", 8);
  for (const int kind : {0, 5, 0x101, 0xffff}) {
    expect_bad(altered(bloom_shape, 10, u16(kind)), "kind is " + std::to_string(kind) + "; must be 1 (bloom)",
               10);
  }
  for (const int id : {0, 3, 0xffff}) {
    expect_bad(altered(bloom_shape, 12, u16(id)),
               "hash id is " + std::to_string(id) + "; must be 1 (xxh3-128)", 12);
  }
  for (const int id : {0, 10, 0xffff}) {
    expect_bad(altered(bloom_shape, 14, u16(id)), "scheme id is " + std::to_string(id) + "; must be 1 to 9",
               14);
  }
  expect_bad(altered(bloom_shape, 14, u16(2)),
             "scheme id is 2; must be 2 (blocked) for the kind blocked-bloom", 14);
  expect_bad(altered(bloom_shape, 10, u16(2)), "scheme id is 1; must be 2 (blocked)", 14);
  expect_bad(altered(counting_shape, 14, u16(2)), "scheme id is 2", 14);
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

TEST(Serialization, RefusesPositionsThatTheSchemeCannotUse) {
  const auto refused = [](std::uint16_t scheme, const char* reason) {
    const FilterShape shape = round_to_scheme({BloomShape{1013, 5}, scheme}, Rounding::up);
    expect_bad(altered(shape, 24, shape.num_positions() + 1), reason, 24);
  };
  refused(BlockedScheme::file_id, "num_bits is 1025; must be 1024 or 1536 for the scheme 'blocked'");
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
                       {"keyed hash highwayhash-128", "key of id " + id, "give that key"});
  test::expect_refused([&] { deserialize(bytes, other); }, {"key of id " + id, "the key given has id "});
  EXPECT_EQ(deserialize(serialize(filled(bloom_shape)), key).hasher(), KeyHasher(42));
}

TEST(Serialization, RandomBytesBehindAGoodHeaderAreHarmless) {
  test::Random random(20);
  for (const FilterShape& shape : {bloom_shape, counting_shape, threshold_shape}) {
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

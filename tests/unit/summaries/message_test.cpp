#include "tally/summaries/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "random.hpp"
#include "sample_summaries.hpp"
#include "summaries/bit_coder.hpp"
#include "tally/summaries/delta.hpp"
#include "tally/theory/summary_cache.hpp"

namespace tally {
namespace {

using test::MessageBytes;
using test::repair_checksums;
using test::sample_messages;

MessageBytes message(const std::string& name) {
  for (auto& [own, bytes] : sample_messages()) {
    if (own == name) return bytes;
  }
  ADD_FAILURE() << name;
  return {};
}

void expect_bad(const MessageBytes& bytes, const std::string& reason, std::uint64_t offset) {
  test::expect_format_error([&] { (void)read_summary_message(bytes); }, reason, offset, "summary message");
}

/// With another value in the `width` bytes from `at` on.
MessageBytes altered(const std::string& name, std::size_t at, std::size_t width, std::uint64_t value) {
  MessageBytes bytes = message(name);
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
  repair_checksums(bytes);
  return bytes;
}

TEST(BitCoder, WhatIsWrittenIsReadBackAndTheEndIsSeen) {
  test::Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> items;  // 100: unary
    std::vector<std::byte> bytes;
    detail::BitWriter writer(bytes);
    for (std::uint64_t i = 0, count = random.below(60); i < count; ++i) {
      const auto bits = static_cast<std::uint32_t>(random.below(57));
      if (random.below(3) == 0) {
        items.push_back({random.below(300), 100});
        writer.put_unary(items.back().first);
      } else {
        items.push_back({random.next() & ((std::uint64_t{1} << bits) - 1), bits});
        writer.put(items.back().first, bits);
      }
    }
    writer.finish();
    detail::BitReader reader(bytes);
    for (const auto& [value, bits] : items) {
      ASSERT_EQ(bits == 100 ? reader.get_unary() : reader.get(bits), value);
      ASSERT_FALSE(reader.overrun());
    }
    EXPECT_TRUE(reader.at_end());
    bytes.push_back(std::byte{0});
    detail::BitReader longer(bytes);
    for (const auto& [value, bits] : items) (void)(bits == 100 ? longer.get_unary() : longer.get(bits));
    EXPECT_FALSE(longer.at_end());
    (void)longer.get_unary();
    EXPECT_TRUE(longer.overrun());
  }
}

TEST(SummaryMessage, EveryKindAndCodingIsReadAsItWasWritten) {
  std::set<std::pair<SummaryMessageKind, SummaryCoding>> seen;
  for (const auto& [name, bytes] : sample_messages()) {
    SCOPED_TRACE(name);
    const SummaryMessage read = read_summary_message(bytes);
    seen.insert({read.kind, read.coding});
    EXPECT_EQ(summary_message_bytes(std::span(bytes).first(128)), bytes.size());
    EXPECT_EQ(read.publisher, "node-1");
    const SummaryMessage header = read_summary_header(bytes);
    EXPECT_EQ(header.kind, read.kind);
    EXPECT_EQ(header.version, read.version);
    EXPECT_EQ(header.from_sequence, read.from_sequence);
    EXPECT_EQ(header.digest, read.digest);
    EXPECT_EQ(header.layout, read.layout);
    EXPECT_EQ(read.published_at, test::sample_time);
    EXPECT_EQ(read.layout.seed_or_key_id, 42u);
    EXPECT_EQ(read.layout.hash_id, HashId::xxh3_128);
    EXPECT_EQ(read.version.epoch, read.kind == SummaryMessageKind::request ? 999u : 1000u);
  }
  EXPECT_EQ(seen.size(), 6u) << "full of words and of changes, delta, heartbeat, request, stored";
  const SummaryMessage delta = read_summary_message(message("bits-delta"));
  EXPECT_EQ(delta.kind, SummaryMessageKind::delta);
  EXPECT_EQ(delta.from_sequence, 1u);
  EXPECT_EQ(delta.version.sequence, 2u);
  EXPECT_EQ(std::get<BloomShape>(delta.layout.shape), (BloomShape{1003, 4}));
  const SummaryMessage cells = read_summary_message(message("cells-many"));
  EXPECT_EQ(std::get<DLeftShape>(cells.layout.shape).remainder_bits, 10u);
  EXPECT_GT(std::get<DLeftShape>(cells.layout.shape).num_doublings, 0u) << "the table has grown";
  EXPECT_EQ(cells.kind, SummaryMessageKind::full) << "what has grown is sent as a full copy";
}

TEST(SummaryMessage, IsSignedByTheKeyOfItsSenderAndByNoOther) {
  for (const auto& [name, bytes] : sample_messages(test::sample_key())) {
    SCOPED_TRACE(name);
    const SummaryMessage read = read_summary_message(bytes);
    EXPECT_EQ(read.mac.size(), 16u);
    EXPECT_EQ(summary_message_bytes(std::span(bytes).first(128)), bytes.size());
    EXPECT_TRUE(read.is_signed_with(test::sample_key()));
    EXPECT_FALSE(read.is_signed_with(test::sample_key(1)));
  }
  for (const auto& [name, bytes] : sample_messages()) {
    EXPECT_TRUE(read_summary_message(bytes).mac.empty()) << name;
    EXPECT_FALSE(read_summary_message(bytes).is_signed_with(test::sample_key())) << name;
  }
}

// Whoever changes a message can repair its checksums.
TEST(SummaryMessage, OfWhichAnyByteWasChangedIsNotSignedAnyMore) {
  for (const auto& [name, bytes] : sample_messages(test::sample_key())) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i >= 112 && i < 128) continue;  // the checksums
      MessageBytes forged = bytes;
      forged[i] ^= std::byte{1};
      repair_checksums(forged);
      try {
        EXPECT_FALSE(read_summary_message(forged).is_signed_with(test::sample_key()))
            << name << " byte " << i;
      } catch (const FormatError&) {  // no message at all
      }
    }
  }
}

TEST(SummaryMessage, InFormatVersion1HasNoMacAndIsReadAsWhatItWas) {
  for (const auto& [name, bytes] : sample_messages(test::sample_key())) {
    SCOPED_TRACE(name);
    const SummaryMessage read = read_summary_message(bytes);
    const MessageBytes old = in_format_version_1(bytes);
    if (read.kind == SummaryMessageKind::stored) {
      EXPECT_TRUE(old.empty());
      continue;
    }
    EXPECT_EQ(old, in_format_version_1(message(name))) << "the same without a key";
    const SummaryMessage read_old = read_summary_message(old);
    EXPECT_EQ(read_old.format_version, 1);
    EXPECT_TRUE(read_old.mac.empty());
    EXPECT_EQ(read_old.kind, read.kind);
    EXPECT_EQ(read_old.version, read.version);
    EXPECT_EQ(read_old.digest, read.digest);
    EXPECT_TRUE(std::ranges::equal(read_old.payload, read.payload));
  }
  MessageBytes stored = message("bits-stored");
  test::set_field<std::uint16_t>(stored, 8, 1);
  repair_checksums(stored);
  expect_bad(stored, "kind is 5; must be 1 to 4", 10);
  MessageBytes with_mac = message("bits-heartbeat");
  test::set_field<std::uint16_t>(with_mac, 8, 1);
  test::set_field<std::uint8_t>(with_mac, 85, 16);
  repair_checksums(with_mac);
  expect_bad(with_mac, "mac_bytes is 16; must be 0", 85);
}

TEST(SummaryMessage, EveryByteThatIsChangedIsNoticed) {
  auto messages = sample_messages();
  std::ranges::copy(sample_messages(test::sample_key()), std::back_inserter(messages));
  for (const auto& [name, bytes] : messages) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      MessageBytes damaged = bytes;
      damaged[i] ^= std::byte{0x10};
      EXPECT_THROW((void)read_summary_message(damaged), FormatError) << name << " byte " << i;
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const MessageBytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THROW((void)read_summary_message(cut), FormatError) << name << " cut to " << size;
    }
    MessageBytes longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_THROW((void)read_summary_message(longer), FormatError) << name;
  }
}

TEST(SummaryMessage, AFieldOutOfRangeIsNamedWithItsValueAndItsByte) {
  const std::string bits = "bits-delta";
  const std::string cells = "cells-delta";
  struct Row {
    std::string message;
    std::size_t at;
    std::size_t width;  // bytes
    std::uint64_t value;
    std::string reason;
    std::uint64_t offset;  // that is named: of a shape, where that begins
  };
  const std::vector<Row> rows{
      {bits, 8, 2, 0, "format version is 0; must be 1 or 2", 8},
      {bits, 8, 2, 3, "format version is 3; must be 1 or 2", 8},
      {bits, 10, 2, 0, "kind is 0; must be 1 to 5", 10},
      {bits, 10, 2, 6, "kind is 6", 10},
      {bits, 12, 2, 3, "hash id is 3", 12},
      {bits, 14, 2, 99, "99", 64},
      {bits, 32, 8, 0, "sequence is 0", 32},
      {bits, 40, 8, 2, "from_sequence is 2; must be 0 to 1", 40},
      {bits, 56, 8, ~std::uint64_t{0}, "published_at", 56},
      {bits, 64, 8, 0, "num_bits is 0", 64},
      {bits, 64, 8, std::uint64_t{1} << 60, "num_bits", 64},
      {bits, 72, 4, 0, "num_hashes is 0", 64},
      {bits, 72, 4, 1025, "num_hashes is 1025", 64},
      {bits, 76, 1, 2, "has_cells is 2", 76},
      {bits, 79, 1, 1, "field of cells is 1", 79},
      {bits, 82, 1, 1, "coding is 1; must be 2", 82},
      {bits, 83, 1, 57, "rice_bits is 57", 83},
      {bits, 84, 1, 0, "publisher_bytes is 0", 84},
      {bits, 85, 1, 8, "mac_bytes is 8; must be 0", 85},
      {bits, 86, 1, 1, "reserved byte is 1; must be 0", 86},
      {bits, 88, 8, 1u << 20, "num_changes is 1048576", 88},
      {bits, 96, 8, std::uint64_t{1} << 61, "payload_bytes", 96},
      {bits, 104, 1, 7, "reserved byte is 7", 104},
      {cells, 77, 1, 5, "counter_bits is 5", 64},
      {cells, 78, 1, 65, "cells_per_bucket is 65", 64},
      {cells, 79, 1, 33, "remainder_bits is 33", 64},
      {cells, 80, 1, 11, "least_remainder_bits is 11", 64},
      {cells, 81, 1, 3, "num_doublings is 3", 64},
      {cells, 81, 1, 99, "num_doublings is 99", 81},
      {"bits-heartbeat", 82, 1, 1, "coding is 1", 82},
      {"bits-heartbeat", 40, 8, 1, "from_sequence is 1", 40},
      {"bits-full-of-many", 48, 8, 1, "the digest does not match the units", 48},
  };
  for (const auto& [name, at, width, value, reason, offset] : rows) {
    expect_bad(altered(name, at, width, value), reason, offset);
  }
}

TEST(SummaryMessage, APayloadThatNoPublisherWritesIsRefused) {
  // The last byte of the words has bits past the last unit: 1003 is 5 less than a multiple of 8.
  MessageBytes words = message("bits-full-of-many");
  ASSERT_EQ(read_summary_message(words).coding, SummaryCoding::words);
  words.back() = std::byte{0x80};
  repair_checksums(words);
  expect_bad(words, "a bit after the last unit is set", 128 + 6 + 15 * 8);
  expect_bad(altered("bits-full-of-many", 88, 8, 1), "the number of units differs from the header", 134);

  const MessageBytes delta = message("bits-delta");
  const std::uint64_t num_changes = read_summary_message(delta).num_changes;
  expect_bad(altered("bits-delta", 88, 8, num_changes - 1), "data after the last change", delta.size() - 1);
  expect_bad(altered("bits-delta", 88, 8, num_changes + 1), "it ends within a change", delta.size());
  expect_bad(altered("bits-delta", 64, 8, 20), "a unit after the last one", 136);
  MessageBytes cells = message("cells-delta");
  for (std::size_t i = 134; i < cells.size(); ++i) cells[i] = std::byte{0};
  repair_checksums(cells);
  expect_bad(cells, "it ends within a change", cells.size());
}

TEST(SummaryMessage, ACodedSizeThatIsHugeCostsNothing) {
  // Claims 2^50 bits in a message of a few bytes: it is read (nothing is allocated) for the terms to refuse.
  MessageBytes bytes = altered("bits-full-of-few", 64, 8, std::uint64_t{1} << 50);
  EXPECT_EQ(read_summary_message(bytes).layout.num_units(), std::uint64_t{1} << 50);
}

TEST(SummaryDelta, BetweenTwoTablesHasWhatDiffersAndItsLengthIsNearTheEntropy) {
  for (const double share : {0.0001, 0.001, 0.007, 0.02, 0.07, 0.2}) {
    const SummaryLayout layout = layout_of(BloomShape{1'000'000, 7}, DefaultScheme::file_id, KeyHasher(1));
    SummaryTable before(layout);
    SummaryTable after(layout);
    test::Random random(3);
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < layout.num_units(); ++i) {
      const bool is_set = random.below(2) == 0;
      const bool flips = random.below(1'000'000) < static_cast<std::uint64_t>(share * 1e6);
      before.put(i, is_set);
      after.put(i, is_set != flips);
      count += flips;
    }
    const SummaryDelta delta = SummaryDelta::between(before, after);
    EXPECT_EQ(delta.changes.size(), count);
    for (const UnitChange& change : delta.changes) {
      EXPECT_EQ(change.value, after.get(change.unit));
      EXPECT_NE(change.value, before.get(change.unit));
    }
    const double least = theory::least_delta_bits(1'000'000, static_cast<double>(count) / 1e6) / 8;
    EXPECT_GT(static_cast<double>(delta.num_bytes()), least * 0.99 - 8) << share;
    EXPECT_LT(static_cast<double>(delta.num_bytes()), least * 1.043 + 8) << share;
  }
}

TEST(SummaryDelta, TheLengthOfAFullCopyIsKnownBeforeItIsWritten) {
  std::set<SummaryCoding> seen;
  for (const std::uint64_t step : {2, 100}) {
    SummaryTable table(layout_of(BloomShape{1003, 7}, DefaultScheme::file_id, KeyHasher(1)));
    for (std::uint64_t unit = 0; unit < table.num_units(); unit += step) table.put(unit, 1);
    const MessageBytes copy = full_message({"node", {1, 1}, digest_of(table), {}}, table);
    EXPECT_EQ(copy.size(), full_message_bytes("node", table));
    seen.insert(read_summary_message(copy).coding);
  }
  EXPECT_EQ(seen.size(), 2u) << "words and changes";
}

TEST(SummaryDelta, BetweenDifferentLayoutsThereIsNone) {
  const SummaryTable a(layout_of(BloomShape{100, 2}, DefaultScheme::file_id, KeyHasher(1)));
  const SummaryTable b(layout_of(BloomShape{101, 2}, DefaultScheme::file_id, KeyHasher(1)));
  test::expect_refused([&] { (void)SummaryDelta::between(a, b); }, {"different layouts", "full copy"});
}

TEST(SummaryTable, AnyUnitIsReadAsItWasPutWhateverItsWidth) {
  test::Random random(5);
  for (const std::uint32_t remainder_bits : {6u, 10u, 14u, 22u, 30u}) {
    const DLeftShape shape{.buckets_per_subtable = 7,
                           .num_subtables = 3,
                           .cells_per_bucket = 9,
                           .remainder_bits = remainder_bits,
                           .counter_bits = 2,
                           .least_remainder_bits = remainder_bits};
    SummaryTable table(layout_of(shape, RotationBuckets::file_id, KeyHasher(1)));
    std::map<std::uint64_t, std::uint32_t> truth;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t unit = random.below(table.num_units());
      truth[unit] = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << shape.cell_bits()));
      table.put(unit, truth[unit]);
    }
    for (const auto& [unit, value] : truth) EXPECT_EQ(table.get(unit), value) << remainder_bits;
  }
}

TEST(SummaryEnvelope, ANameThatIsEmptyOrTooLongIsRefused) {
  const SummaryLayout layout = layout_of(BloomShape{100, 2}, DefaultScheme::file_id, KeyHasher(1));
  test::expect_refused(
      [&] {
        (void)heartbeat_message({"", {1, 1}, 0, {}}, layout);
      },
      {"length of publisher is 0", "1 to 255"});
  const std::string longest(255, 'n');
  EXPECT_EQ(read_summary_message(heartbeat_message({longest, {1, 1}, 0, {}}, layout)).publisher, longest);
  test::expect_refused(
      [&] {
        (void)heartbeat_message({longest + "n", {1, 1}, 0, {}}, layout);
      },
      {"length of publisher is 256"});
}

}  // namespace
}  // namespace tally

#include <optional>

#include "describe.hpp"
#include "fail_each.hpp"
#include "tally/summaries/delta.hpp"

// Publishers, messages and copies, where there is no memory.

namespace tally::test {
namespace {

template <class Directory>
Directory with_keys(Directory directory, std::uint64_t num_keys) {
  for (std::uint64_t key = 0; key < num_keys; ++key) (void)directory.insert(key);
  return directory;
}

auto bits_directory(bool is_large) {
  auto shape = sample_bits();
  if (is_large) shape.num_counters *= 9;
  return with_keys(DirectorySummary<CountingBloomFilter<>>(shape, 42, {is_large ? "node-2" : "node-1", 1000}),
                   9);
}
auto cells_directory(bool is_large) {
  auto shape = sample_cells();
  if (is_large) shape.buckets_per_subtable *= 9;
  return with_keys(
      DirectorySummary<DLeftCountingBloomFilter<>>(shape, 42, {is_large ? "node-2" : "node-1", 1000}), 9);
}

template <class Directory>
SummaryReplica replica_of(Directory directory) {
  SummaryReplica replica({.hasher = 42});
  (void)replica.apply(directory.publish(sample_time));
  return replica;
}

// A DirectorySummary has a SummarySource and a SummaryPublisher.
TEST(Allocation, SummariesAreCopiedAndAssignedWholeOrNotAtAll) {
  fail_each_copy("DirectorySummary of bits", bits_directory, describes);
  fail_each_copy("DirectorySummary of cells", cells_directory, describes);
  fail_each_copy(
      "SummaryPublisher", [](bool is_large) { return bits_directory(is_large).publisher(); }, describes);
  fail_each_copy(
      "SummaryReplica", [](bool is_large) { return replica_of(cells_directory(is_large)); }, describes);
  fail_each_copy(
      "SummaryTable", [](bool is_large) { return SummaryTable(bits_directory(is_large).layout()); },
      describes);
  fail_each_copy(
      "SquidDigest",
      [](bool is_large) { return SquidDigest({.capacity = is_large ? 4000u : 10u, .bits_per_entry = 5}); },
      describes);
  fail_each_copy(
      "CountingSquidDigest",
      [](bool is_large) {
        return CountingSquidDigest({.capacity = is_large ? 4000u : 10u, .bits_per_entry = 5});
      },
      describes);
}

/// Every message that a publisher makes: made, and what it announces published, or neither.
template <class Directory>
void expect_versions_are_published_whole(Directory directory) {
  const auto publish = [](Directory& publisher) { (void)publisher.publish(sample_time); };
  const auto make = [&] { return directory; };
  EXPECT_GT(fail_each("first version", make, publish, describes), 0u);
  publish(directory);
  EXPECT_GT(fail_each("nothing new", make, publish, describes), 0u);
  for (std::uint64_t key = 9; key < 14; ++key) (void)directory.insert(key);
  EXPECT_GT(fail_each("a delta", make, publish, describes), 0u);
  publish(directory);
  for (std::uint64_t key = 14; key < (directory.layout().has_cells() ? 70 : 400); ++key)
    (void)directory.insert(key);
  EXPECT_GT(fail_each("a copy in place of a delta", make, publish, describes), 0u);
  EXPECT_GT(fail_each(
                "full", make, [](Directory& object) { (void)object.full(sample_time); }, describes),
            0u);
  for (const SummaryVersion asker : {SummaryVersion{999, 3}, SummaryVersion{5000, 1}}) {
    const Bytes request = request_message({"node-1", asker, 5, sample_time}, directory.layout());
    EXPECT_GT(fail_each(
                  "an answer", make,
                  [&](Directory& object) { (void)object.answer(read_summary_message(request), sample_time); },
                  describes),
              0u);
  }
}

TEST(Allocation, AVersionIsPublishedWholeOrNotAtAll) {
  expect_versions_are_published_whole(bits_directory(false));
  expect_versions_are_published_whole(cells_directory(false));
}

// The filter doubles, and the memory for the new layout is asked for when a version is made.
TEST(Allocation, ADirectoryThatGrowsTakesKeysWithoutMemoryForItsSummary) {
  auto directory = cells_directory(false);
  (void)directory.publish(sample_time);
  for (std::uint64_t key = 9; key < 120; ++key) {
    for (std::uint64_t which = 0; which < 3; ++which) {
      const FailingAllocation failing(which);
      if (directory.insert(key) == InsertResult::counted) break;
    }
    ASSERT_TRUE(directory.may_contain(key));
    ASSERT_EQ(directory.words().size(), directory.layout().num_words());
  }
  EXPECT_EQ(directory.filter().shape().num_doublings, 2u);
  const auto publish = [](auto& publisher) { (void)publisher.publish(sample_time); };
  EXPECT_GT(fail_each(
                "another layout", [&] { return directory; }, publish, describes),
            1u);
  SummaryReplica replica = replica_of(directory);
  for (std::uint64_t key = 0; key < 120; ++key) EXPECT_TRUE(replica.may_contain(key));
}

TEST(Allocation, APublisherTakesOverAnotherLayoutInPartsOrNotAtAll) {
  const auto directory = bits_directory(false);
  const SummaryTable larger(bits_directory(true).layout());
  const auto make = [&] {
    SummaryPublisher publisher = directory.publisher();
    publisher.change_layout(larger.layout());
    return publisher;
  };
  EXPECT_GT(
      fail_each(
          "catch_up", make,
          [&](SummaryPublisher& publisher) { (void)publisher.catch_up(larger.words(), 10); }, describes),
      0u);
}

TEST(Allocation, AMessageIsAppliedWholeOrNotAtAll) {
  std::optional<SummaryReplica> replica(SummaryTerms{.hasher = 42});
  std::vector<Bytes> taken;
  for (const auto& message : sample_messages()) {
    const std::string& name = message.first;
    const Bytes& bytes = message.second;
    if (name == "cells-full-of-few") replica.emplace(SummaryTerms{.hasher = 42});
    fail_each(
        name, [&] { return *replica; }, [&](SummaryReplica& copy) { (void)copy.apply(bytes); }, describes);
    (void)replica->apply(bytes);
    // A set has no copy: it is made anew each time.
    fail_each(
        name + " into a set",
        [&] {
          auto set = std::make_unique<SummarySet>(SummaryTerms{.hasher = 42});
          for (const Bytes& earlier : taken) (void)set->apply(earlier);
          return set;
        },
        [&](const std::unique_ptr<SummarySet>& set) { (void)set->apply(bytes); },
        [](const std::unique_ptr<SummarySet>& set) { return describe_all(*set); });
    taken.push_back(bytes);
  }
}

/// A column with one unit, or none.
void add_column_with(PeerTable& table, std::uint64_t unit) {
  const PeerTable::Column column = table.add_column();
  try {
    table.reserve(column, [&](auto visit) { visit(unit); });
  } catch (...) {
    table.free_column(column);
    throw;
  }
  table.put(column, unit, 1);
}

// The memory is that of its PeerSegments.
TEST(Allocation, ATableOfPeersGrowsByAColumnOrNotAtAll) {
  for (const bool has_cells : {false, true}) {
    const auto make = [&] {
      auto table = std::make_unique<PeerTable>(has_cells ? cells_directory(true).layout()
                                                         : bits_directory(true).layout());
      for (int i = 0; i < 4; ++i) add_column_with(*table, 5);
      return table;
    };
    EXPECT_GE(
        fail_each(
            "PeerTable", make, [](const std::unique_ptr<PeerTable>& table) { add_column_with(*table, 7); },
            [](const std::unique_ptr<PeerTable>& table) { return describe_all(*table); }),
        1u);
  }
}

TEST(Allocation, SegmentsOfPeersAreAllWidenedOrSeemNotToBe) {
  for (const std::uint64_t column_bits : {std::uint64_t{1}, std::uint64_t{16}}) {
    const std::uint64_t num_rows = 5 * 32768 / column_bits;
    const auto each_row = [&](auto visit) {
      for (std::uint64_t row = 0; row < num_rows; row += 1000) visit(row);
    };
    const auto make = [&] {
      PeerSegments segments(num_rows, column_bits);
      segments.reserve(2, each_row);
      const PeerSegments::Row row = segments.row(1000);
      row.words[row.first_column * column_bits / 64] |= std::uint64_t{1}
                                                        << row.first_column * column_bits % 64;
      return segments;
    };
    const auto describe_it = [&](const PeerSegments& segments) {
      const PeerSegments::Row row = segments.row(1000);
      return Numbers{
          segments.num_bytes(),
          row.words[row.first_column * column_bits / 64] >> row.first_column * column_bits % 64 & 1};
    };
    EXPECT_EQ(fail_each(
                  "PeerSegments", make, [&](PeerSegments& segments) { segments.reserve(9, each_row); },
                  describe_it),
              5u);
  }
}

// Groups of peers grow column by column, and shrink again.
TEST(Allocation, PeersComeAndGoWholeOrNotAtAll) {
  std::vector<Bytes> messages;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "peer-" + std::to_string(i);
    if (i % 3 == 0) {
      DirectorySummary<DLeftCountingBloomFilter<>> directory(sample_cells(), 42, {name, 1000});
      messages.push_back(with_keys(std::move(directory), 5).publish(sample_time));
    } else {
      DirectorySummary<CountingBloomFilter<>> directory(sample_bits(), 42, {name, 1000});
      messages.push_back(with_keys(std::move(directory), 5).publish(sample_time));
    }
  }
  for (std::size_t count = 0; count < messages.size(); ++count) {
    const auto make = [&] {
      auto set = std::make_unique<SummarySet>(SummaryTerms{.hasher = 42});
      for (std::size_t i = 0; i < count; ++i) (void)set->apply(messages[i]);
      if (count > 6) (void)set->remove("peer-4");
      return set;
    };
    const auto describe_it = [](const std::unique_ptr<SummarySet>& set) { return describe_all(*set); };
    EXPECT_GT(
        fail_each(
            "peer " + std::to_string(count), make,
            [&](const std::unique_ptr<SummarySet>& set) { (void)set->apply(messages[count]); }, describe_it),
        0u);
    fail_each(
        "asked", make,
        [&](const std::unique_ptr<SummarySet>& set) { (void)set->who_may_have(std::uint64_t{1}); },
        describe_it);
    // A peer that leaves needs no memory, and takes its column with it.
    auto set = make();
    {
      const FailingAllocation failing(0);
      (void)set->remove("peer-0");
      EXPECT_FALSE(FailingAllocation::has_failed());
    }
  }
}

TEST(Allocation, ASquidDigestIsReadAndWrittenWholeOrNotAtAll) {
  const SquidDigest digest({.capacity = 1000, .bits_per_entry = 5});
  const Bytes bytes = digest.to_bytes();
  EXPECT_GT(fail_each(
                "read", [] { return std::optional<SquidDigest>(); },
                [&](std::optional<SquidDigest>& read) { read.emplace(SquidDigest::from_bytes(bytes)); },
                [](const std::optional<SquidDigest>& read) { return read ? read->to_bytes() : Bytes{}; }),
            0u);
  EXPECT_GT(
      fail_each(
          "written", [&] { return digest; }, [](SquidDigest& object) { (void)object.to_bytes(); }, describes),
      0u);
  EXPECT_GT(fail_each(
                "taken", [] { return CountingSquidDigest({.capacity = 1000, .bits_per_entry = 5}); },
                [](CountingSquidDigest& object) { (void)object.digest(); }, describes),
            0u);
}

TEST(Allocation, ADeltaIsMadeAndPatchedWholeOrNotAtAll) {
  auto directory = cells_directory(false);
  (void)directory.publish(sample_time);
  const SummaryTable before = directory.publisher().published();
  for (std::uint64_t key = 100; key < 110; ++key) (void)directory.insert(key);
  const Bytes message = directory.publish(sample_time);
  const SummaryTable after = directory.publisher().published();
  fail_each(
      "SummaryDelta", [&] { return before; },
      [&](SummaryTable& table) { (void)SummaryDelta::between(table, after); }, describes);
  const auto patched = [&](std::pair<SummaryTable, std::uint64_t>& table) {
    EXPECT_TRUE(patch(table.first, table.second, read_summary_message(message)));
  };
  const auto describe_it = [](const std::pair<SummaryTable, std::uint64_t>& table) {
    return std::pair(describe_all(table.first), table.second);
  };
  fail_each(
      "patch by a delta", [&] { return std::pair(before, digest_of(before)); }, patched, describe_it);
  const Bytes full = directory.full(sample_time);
  fail_each(
      "patch by a copy", [&] { return std::pair(before, digest_of(before)); },
      [&](std::pair<SummaryTable, std::uint64_t>& table) {
        EXPECT_TRUE(patch(table.first, table.second, read_summary_message(full)));
      },
      describe_it);
}

}  // namespace
}  // namespace tally::test

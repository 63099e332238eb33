#include "describe.hpp"
#include "fail_each.hpp"
#include "support/random.hpp"
#include "tally/filters/aging_bloom.hpp"
#include "tally/hashing/kmer_scanner.hpp"
#include "tally/sets/shared_entry_counts.hpp"
#include "tally/sets/shared_entry_set.hpp"

// Sets of digests and what all structures are made of, where there is no memory.

namespace tally::test {
namespace {

TEST(Allocation, StorageIsCopiedAndAssignedWholeOrNotAtAll) {
  fail_each_copy(
      "BitArray", [](bool is_large) { return BitArray(is_large ? 50'000 : 100); }, describes);
  fail_each_copy(
      "CounterArray", [](bool is_large) { return CounterArray(is_large ? 9000 : 10, is_large ? 5 : 8); },
      describes);
  fail_each_copy(
      "CellTable", [](bool is_large) { return CellTable(is_large ? 900 : 3, 4, is_large ? 24 : 8); },
      describes);
  fail_each_copy(
      "SpillTable", [](bool is_large) { return SpillTable(is_large ? 900 : 3); }, describes);
  fail_each_copy(
      "DLeftTable",
      [](bool is_large) {
        return detail::DLeftTable<RotationBuckets>(sample_dleft_shapes()[is_large ? 0 : 2], 7);
      },
      describes);
}

HashSet set_of(std::uint64_t num_digests, std::uint64_t max_bytes) {
  HashSet set(max_bytes);
  Random random(3);
  for (std::uint64_t i = 0; i < num_digests; ++i) (void)set.insert(random.digest());
  return set;
}

TEST(Allocation, SetsOfDigestsAreCopiedAndAssignedWholeOrNotAtAll) {
  fail_each_copy(
      "DigestShard", [](bool is_large) { return DigestShard(is_large ? 100 : 2); }, describes);
  fail_each_copy(
      "HashSet",
      [](bool is_large) { return is_large ? set_of(30'000, ~std::uint64_t{0}) : set_of(100, 5000); },
      describes);
  fail_each_copy(
      "RecentKeys",
      [](bool is_large) {
        RecentKeys keys(is_large ? 10'000 : 64);
        for (const Hash128 digest : sample_keys(1, 30)) (void)keys.insert(digest);
        return keys;
      },
      describes);
}

TEST(Allocation, AnAgingFilterIsCopiedAndAssignedWholeOrNotAtAll) {
  fail_each_copy(
      "AgingBloomFilter",
      [](bool is_large) {
        AgingBloomFilter<> filter({is_large ? 50'000u : 100u, 3}, 1, 20);
        for (const Hash128 digest : sample_keys(1, 30)) filter.insert(digest);
        return filter;
      },
      [](const AgingBloomFilter<>& filter) {
        return std::pair(describe_all(filter.newer()), describe_all(filter.older()));
      });
}

TEST(Allocation, AKmerScannerStartsAgainAfterAFailure) {
  const std::string bases(10'000, 'A');
  fail_each(
      "KmerScanner::start", [] { return KmerScanner(31, Strands::both); },
      [&](KmerScanner& scanner) { scanner.start(bases); },
      [](KmerScanner& scanner) { return scanner.next().size(); });
}

TEST(Allocation, AHashSetGrowsWholeOrNotAtAll) {
  const HashSet full = [] {
    HashSet set;
    Random random(3);
    while (set.try_insert(random.digest()) != HashSet::Outcome::full) continue;
    return set;
  }();
  Random random(3);
  Hash128 digest = random.digest();
  for (HashSet copy = full; copy.try_insert(digest) != HashSet::Outcome::full;) digest = random.digest();
  EXPECT_GT(fail_each(
                "HashSet grown", [&] { return full; },
                [&](HashSet& set) { EXPECT_TRUE(set.try_grow(digest)); }, describes),
            0u);
  EXPECT_GT(fail_each(
                "HashSet inserts", [&] { return full; },
                [&](HashSet& set) { EXPECT_EQ(set.insert(digest), HashSet::Outcome::inserted); }, describes),
            0u);
  const std::vector<std::uint64_t> image = full.image();
  EXPECT_GT(
      fail_each(
          "HashSet of an image", [] { return std::unique_ptr<HashSet>(); },
          [&](std::unique_ptr<HashSet>& set) { set = std::make_unique<HashSet>(~std::uint64_t{0}, image); },
          [](const std::unique_ptr<HashSet>& set) { return set ? set->image() : Numbers{}; }),
      64u);
}

// SharedEntryTable by the two types that have one.

TEST(Allocation, SharedEntryCountsGrowWholeOrNotAtAll) {
  constexpr std::uint64_t first_growth = (std::uint64_t{5} << 13) * 17 / 20;  // entries in 2^13 lines
  const auto make = [] {
    auto counts = std::make_unique<SharedEntryCounts>(std::uint64_t{1} << 24);
    for (std::uint64_t entry = 1; entry <= first_growth; ++entry)
      (void)counts->insert(entry, static_cast<std::uint32_t>(entry));
    return counts;
  };
  const auto describe_it = [](const std::unique_ptr<SharedEntryCounts>& counts) {
    std::vector<std::uint64_t> entries;
    for (std::uint64_t entry = 1; entry <= first_growth + 9; ++entry) entries.push_back(entry);
    std::vector<std::uint32_t> answers(entries.size());
    counts->counts_of(entries, answers);
    std::vector<std::uint64_t> all = {counts->size(), counts->num_bytes()};
    all.insert(all.end(), answers.begin(), answers.end());
    return all;
  };
  EXPECT_GT(fail_each(
                "SharedEntryCounts", make,
                [](const std::unique_ptr<SharedEntryCounts>& counts) {
                  EXPECT_EQ(counts->insert(first_growth + 1, 3), SharedEntryCounts::Outcome::inserted);
                },
                describe_it),
            0u);
}

TEST(Allocation, ASharedEntrySetGrowsWholeOrNotAtAll) {
  constexpr std::uint64_t first_growth = (std::uint64_t{1} << 16) * 4 / 5;  // of 2^16 slots
  const auto make = [] {
    auto set = std::make_unique<SharedEntrySet>(std::uint64_t{1} << 24);
    for (std::uint64_t entry = 1; entry <= first_growth; ++entry) (void)set->insert(entry);
    return set;
  };
  const auto describe_it = [](const std::unique_ptr<SharedEntrySet>& set) {
    std::vector<std::uint64_t> entries;
    for (std::uint64_t entry = 1; entry <= first_growth + 9; ++entry) entries.push_back(entry);
    const Flags is_in(entries.size());
    Flags answers(entries.size());
    set->contains_batch(entries, answers.span());
    std::vector<std::uint64_t> all = {set->size(), set->num_bytes()};
    for (std::size_t i = 0; i < entries.size(); ++i) all.push_back(answers[i]);
    return all;
  };
  EXPECT_GT(fail_each(
                "SharedEntrySet", make,
                [](const std::unique_ptr<SharedEntrySet>& set) {
                  EXPECT_EQ(set->insert(first_growth + 1), SharedEntrySet::Outcome::inserted);
                },
                describe_it),
            0u);
}

}  // namespace
}  // namespace tally::test

#include "tally/summaries/replica.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "sample_summaries.hpp"
#include "tally/summaries/set.hpp"

namespace tally {
namespace {

using test::expect_refused;
using test::MessageBytes;
using test::sample_bits;
using test::sample_time;
using Bits = DirectorySummary<CountingBloomFilter<>>;
using Cells = DirectorySummary<DLeftCountingBloomFilter<>>;

Bits bits_directory(const std::string& name, std::uint64_t epoch = 1000, KeyHasher hasher = 42) {
  return {sample_bits(), hasher, SummaryOptions{name, epoch}};
}

template <class Directory>
void insert(Directory& directory, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t key = first; key < end; ++key) EXPECT_NE(directory.insert(key), InsertResult::full);
}

TEST(SummaryReplica, BeforeAnythingCameItIsTheEmptyDirectoryAndSaysSo) {
  const SummaryReplica replica({.hasher = 42});
  EXPECT_FALSE(replica.may_contain(1u));
  EXPECT_FALSE(replica.status().is_current());
  EXPECT_EQ(replica.status().num_versions_behind(), std::nullopt);
  EXPECT_EQ(replica.status().age(sample_time), std::nullopt);
  EXPECT_EQ(replica.estimated_false_positive_rate(), 0);
  EXPECT_TRUE(replica.request().empty());
}

TEST(SummaryReplica, SaysHowManyVersionsItIsBehindAndCatchesUpByDeltasInAnyOrder) {
  Bits directory = bits_directory("node");
  SummaryReplica replica({.hasher = 42});
  insert(directory, 0, 10);
  EXPECT_EQ(replica.apply(directory.publish(sample_time)), ApplyResult::applied);
  std::vector<MessageBytes> deltas;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    insert(directory, 10 * i, 10 * i + 10);
    deltas.push_back(directory.publish(sample_time + std::chrono::seconds(i)));
  }
  EXPECT_EQ(replica.apply(deltas[2]), ApplyResult::behind);
  EXPECT_EQ(replica.status().num_versions_behind(), 3u);
  EXPECT_TRUE(replica.status().needs_full());
  EXPECT_EQ(replica.status().age(sample_time + std::chrono::seconds(60)), std::chrono::seconds(60));
  EXPECT_EQ(replica.apply(deltas[0]), ApplyResult::applied);
  EXPECT_EQ(replica.apply(deltas[0]), ApplyResult::behind) << "repeated, and two others are still missing";
  EXPECT_EQ(replica.status().num_versions_behind(), 2u);
  EXPECT_EQ(replica.apply(deltas[1]), ApplyResult::applied);
  EXPECT_EQ(replica.apply(deltas[2]), ApplyResult::applied);
  EXPECT_TRUE(replica.status().is_current());
  EXPECT_EQ(replica.apply(deltas[1]), ApplyResult::unchanged);
  EXPECT_EQ(replica.status().age(sample_time + std::chrono::seconds(60)), std::chrono::seconds(57));
  EXPECT_EQ(replica.status().age(sample_time), std::chrono::seconds(0)) << "clocks that disagree";
  for (std::uint64_t key = 0; key < 40; ++key) EXPECT_TRUE(replica.may_contain(key));
}

TEST(SummaryReplica, APublisherThatRestartsWithTheSameKeysNeedsToSendNoCopy) {
  Bits first = bits_directory("node", 1000);
  Bits second = bits_directory("node", 2000);
  insert(first, 0, 50);
  insert(second, 0, 50);
  (void)second.publish(sample_time);
  SummaryReplica replica({.hasher = 42});
  EXPECT_EQ(replica.apply(first.publish(sample_time)), ApplyResult::applied);
  EXPECT_EQ(replica.apply(second.heartbeat(sample_time)), ApplyResult::applied);
  EXPECT_EQ(replica.status().held, (SummaryVersion{2000, 1}));
  insert(second, 50, 60);
  EXPECT_EQ(replica.apply(second.publish(sample_time)), ApplyResult::applied);
  EXPECT_TRUE(replica.may_contain(std::uint64_t{55}));
}

TEST(SummaryReplica, ADeltaOfANewEpochIsNotForACopyOfTheOldOneWhateverItsNumbers) {
  Bits first = bits_directory("node", 1000);
  Bits second = bits_directory("node", 2000);
  insert(first, 0, 50);
  insert(second, 100, 150);
  SummaryReplica replica({.hasher = 42});
  (void)replica.apply(first.publish(sample_time));
  (void)second.publish(sample_time);
  insert(second, 150, 155);
  EXPECT_EQ(replica.apply(second.publish(sample_time)), ApplyResult::behind);
  EXPECT_TRUE(replica.status().needs_full());
  EXPECT_FALSE(replica.status().has_diverged) << "from its version 1, but that is another one";
  EXPECT_EQ(replica.status().num_versions_behind(), std::nullopt) << "nobody told how long the new epoch is";
  EXPECT_EQ(replica.apply(second.full(sample_time)), ApplyResult::applied);
  EXPECT_TRUE(replica.status().is_current());
}

TEST(SummaryReplica, APublisherWhoseClockWasSetBackIsFollowedAfterOneRequest) {
  Bits first = bits_directory("node", 2000);
  Bits second = bits_directory("node", 1000);
  insert(first, 0, 5);
  insert(second, 5, 10);
  SummaryReplica replica({.hasher = 42});
  EXPECT_EQ(replica.apply(first.publish(sample_time)), ApplyResult::applied);
  EXPECT_EQ(replica.apply(second.publish(sample_time)), ApplyResult::behind);
  EXPECT_TRUE(replica.status().is_contradicted);
  EXPECT_EQ(replica.apply(second.answer(read_summary_message(replica.request()))), ApplyResult::applied);
  EXPECT_GT(second.version().epoch, 2000u);
  EXPECT_EQ(replica.status().held, second.version());
  EXPECT_TRUE(replica.status().is_current());
  EXPECT_TRUE(replica.may_contain(std::uint64_t{7}));
  EXPECT_TRUE(
      second.answer(read_summary_message(request_message({"other", {1, 1}, 0, sample_time}, second.layout())))
          .empty())
      << "a request for somebody else";
}

TEST(SummaryReplica, ADeltaThatDoesNotLeadToThePublishersBitsIsNotTakenAndTheReplicaSaysThatItHasDiverged) {
  Bits directory = bits_directory("node");
  SummaryReplica replica({.hasher = 42});
  insert(directory, 0, 10);
  (void)replica.apply(directory.publish(sample_time));
  const SummaryTable before = *replica.table();
  insert(directory, 10, 20);
  MessageBytes delta = directory.publish(sample_time);
  test::set_field<std::uint64_t>(delta, 48, 12345);  // another digest, checksums right
  test::repair_checksums(delta);
  EXPECT_EQ(replica.apply(delta), ApplyResult::behind);
  EXPECT_TRUE(replica.status().has_diverged);
  EXPECT_TRUE(std::equal(before.words().begin(), before.words().end(), replica.table()->words().begin()));
  EXPECT_EQ(replica.apply(directory.answer(read_summary_message(replica.request()))), ApplyResult::applied);
  EXPECT_TRUE(replica.status().is_current());
}

TEST(SummaryReplica, WhatTheTermsDoNotAllowIsRefusedByItsFieldAndNothingChanges) {
  Bits directory = bits_directory("node");
  insert(directory, 0, 10);
  const MessageBytes message = directory.publish(sample_time);
  const auto refused = [&](SummaryTerms terms, const std::vector<std::string>& fragments) {
    SummaryReplica replica(terms);
    expect_refused([&] { (void)replica.apply(message); }, fragments);
    EXPECT_EQ(replica.status().newest, SummaryVersion{});
    SummarySet set(terms);
    expect_refused([&] { (void)set.apply(message); }, fragments);
    EXPECT_EQ(set.num_peers(), 0u);
  };
  refused({.hasher = 43}, {"summary of 'node'", "seed is 42 there and 43 here"});
  refused({.hasher = KeyHasher::keyed({})}, {"hash is xxh3-128 there and highwayhash-128 here"});
  refused({.hasher = 42, .bits_scheme_id = StandardScheme::file_id},
          {"scheme is congruential there and standard here"});
  refused({.hasher = 42, .max_num_hashes = 3}, {"num_hashes is 4; must be at most 3"});
  refused({.hasher = 42, .max_bytes_per_peer = 127}, {"number of bytes is 128; must be at most 127"});
  SummaryReplica named({.hasher = 42}, "other");
  expect_refused([&] { (void)named.apply(message); }, {"publisher is 'node'; must be 'other'"});

  SummarySet small({.hasher = 42, .max_total_bytes = 200});
  expect_refused(
      [&] {
        for (const char* name : {"a", "b"}) {
          Bits of_one = bits_directory(name);
          insert(of_one, 0, 10);
          (void)small.apply(of_one.publish(sample_time));
        }
      },
      // 128 bytes for one copy and 256 for two, at the same time, and 24 for the table's only segment.
      {"total bytes of all copies is 408; must be at most 200 (max_total_bytes)"});
  EXPECT_EQ(small.num_peers(), 1u) << "the one that was refused is no peer";
}

TEST(SummaryReplica, AMessageThatClaimsAHugeSizeIsRefusedBeforeAnythingIsAllocated) {
  MessageBytes message = bits_directory("node").publish(sample_time);
  test::set_field<std::uint64_t>(message, 64, std::uint64_t{1} << 55);
  test::repair_checksums(message);
  SummaryReplica replica({.hasher = 42});
  expect_refused([&] { (void)replica.apply(message); }, {"number of bytes is 4503599627370496"});
}

template <class Directory>
void expect_rate(Directory directory, std::uint64_t num_keys) {
  insert(directory, 0, num_keys);
  SummaryReplica replica({.hasher = 42});
  (void)replica.apply(directory.publish(sample_time));
  constexpr std::uint64_t num_absent = 200'000;
  std::uint64_t num_found = 0;
  for (std::uint64_t key = 0; key < num_absent; ++key) num_found += replica.may_contain(1'000'000 + key);
  const double rate = replica.estimated_false_positive_rate();
  const double expected = rate * num_absent;
  // Five standard deviations, two-sided: 6e-7.
  EXPECT_NEAR(static_cast<double>(num_found), expected, 5 * std::sqrt(expected));
  EXPECT_GT(expected, 100);
  for (std::uint64_t key = 0; key < num_keys; ++key) {
    EXPECT_TRUE(replica.may_contain(key));
    EXPECT_EQ(directory.may_contain(key), replica.may_contain(key));
  }
}

TEST(SummaryReplica, TheEstimatedFalsePositiveRateIsTheMeasuredOneOfBitsAndOfCells) {
  expect_rate(bits_directory("node"), 150);
  expect_rate(test::sample_cells_directory(), 100);
}

TEST(SummarySet, NamesThePeersThatTheirReplicasWouldWhateverTheirShapesAndHoweverManyThereAre) {
  for (const bool of_one_shape : {true, false}) {
    SummarySet set({.hasher = 42});
    std::vector<SummaryReplica> replicas;
    std::vector<std::uint32_t> peers;
    for (std::uint64_t i = 0; i < 150; ++i) {
      SummaryReplica& replica = replicas.emplace_back(SummaryTerms{.hasher = 42});
      const SummaryOptions options{"peer" + std::to_string(i), 1};
      const auto take = [&](auto directory) {
        insert(directory, 20 * i, 20 * i + 60);
        const MessageBytes message = directory.publish(sample_time);
        (void)replica.apply(message);
        peers.push_back(set.apply(message).peer);
        (void)directory.remove(20 * i);
        const MessageBytes delta = directory.publish(sample_time);
        EXPECT_EQ(replica.apply(delta), set.apply(delta).result);
      };
      CountingBloomShape bits = sample_bits();
      if (!of_one_shape) bits.num_counters += 64 * (i % 7);
      if (i % 3 != 0) take(Bits(bits, 42, options));
      else
        take(
            Cells({.buckets_per_subtable = of_one_shape ? 8 : 8 + i % 5, .remainder_bits = 14}, 42, options));
    }
    EXPECT_EQ(set.num_peers(), 150u);
    // Some leave, and their places are taken by others.
    for (std::uint64_t i = 0; i < 150; i += 10) EXPECT_TRUE(set.remove("peer" + std::to_string(i)));
    EXPECT_FALSE(set.remove("peer0"));
    for (std::uint64_t i = 0; i < 150; i += 20) {
      Bits directory(sample_bits(), 42, {"peer" + std::to_string(i), 5});
      insert(directory, 7 * i, 7 * i + 30);
      const MessageBytes message = directory.publish(sample_time);
      replicas[i] = SummaryReplica({.hasher = 42});
      (void)replicas[i].apply(message);
      peers[i] = set.apply(message).peer;
    }
    std::vector<std::uint64_t> keys;
    for (std::uint64_t key = 0; key < 3500; key += 3) keys.push_back(key);
    std::vector<std::vector<std::uint32_t>> expected(keys.size());
    for (std::size_t k = 0; k < keys.size(); ++k) {
      for (std::uint64_t i = 0; i < 150; ++i) {
        if (i % 10 == 0 && i % 20 != 0) continue;  // gone
        if (replicas[i].may_contain(keys[k])) expected[k].push_back(peers[i]);
      }
      std::sort(expected[k].begin(), expected[k].end());
      EXPECT_EQ(set.who_may_have(keys[k]), expected[k]) << keys[k];
    }
    std::vector<std::vector<std::uint32_t>> found(keys.size());
    set.who_may_have_batch(keys, [&](std::size_t k, std::uint32_t peer) { found[k].push_back(peer); });
    EXPECT_EQ(found, expected);
    EXPECT_EQ(set.name(*set.find("peer20")), "peer20");
    EXPECT_EQ(set.find("peer10"), std::nullopt);
  }
}

TEST(SummarySet, TakesAboutTheMemoryOfTheBitsAlone) {
  SummarySet set({.hasher = 42});
  std::uint64_t num_bits = 0;
  for (int i = 0; i < 500; ++i) {
    Bits directory = bits_directory("peer" + std::to_string(i));
    insert(directory, 0, 5);
    num_bits += directory.layout().num_units();
    (void)set.apply(directory.publish(sample_time));
  }
  EXPECT_GE(8 * set.num_bytes(), num_bits);
  EXPECT_LE(8 * set.num_bytes(), num_bits + num_bits / 8);
}

// A forger's: the publisher's own version would never reach it.
TEST(SummaryPublisher, GoesAboveALaterVersionOfItsOwnEpochToo) {
  auto directory = test::sample_bits_directory();
  (void)directory.insert(std::uint64_t{1});
  (void)directory.publish();
  SummaryMessage request;
  request.kind = SummaryMessageKind::request;
  request.publisher = "node-1";
  for (const SummaryVersion heard :
       {SummaryVersion{1000, ~std::uint64_t{0}}, SummaryVersion{1'000'000'000'000, 1}}) {
    request.version = heard;
    const auto answer = directory.answer(request);
    EXPECT_EQ(read_summary_message(answer).kind, SummaryMessageKind::full);
    EXPECT_GT(directory.version(), heard);
  }
}

// Heartbeats are cheap to forge, full copies are not, and whoever sent one is known by it.
TEST(SummarySet, MakesAPublisherAPeerByAFullCopyOnly) {
  SummarySet set({.hasher = 42});
  auto directory = test::sample_bits_directory();
  (void)directory.insert(std::uint64_t{1});
  const auto full = directory.publish();
  (void)directory.insert(std::uint64_t{2});
  const auto delta = directory.publish();
  const SummaryMessage heard = read_summary_message(delta);
  const auto stored =
      stored_message({"node-1", directory.version(), heard.digest, test::sample_time}, heard.layout);
  for (const auto& message : {directory.heartbeat(), delta, stored}) {
    EXPECT_EQ(set.apply(message).result, ApplyResult::unknown);
    EXPECT_EQ(set.num_peers(), 0u);
  }
  const auto request = set.request_of_unknown(heard);
  EXPECT_EQ(directory.answer(read_summary_message(request), sample_time), directory.full(sample_time));
  EXPECT_EQ(set.apply(full).result, ApplyResult::applied);
  EXPECT_EQ(set.apply(stored).result, ApplyResult::behind) << "it says that there is a copy to fetch";
  EXPECT_EQ(set.apply(delta).result, ApplyResult::applied);
  EXPECT_EQ(set.apply(stored).result, ApplyResult::unchanged);
}

TEST(SummarySet, ThatIsFullNamesTheLimit) {
  SummarySet set({.hasher = 42, .max_peers = 1});
  (void)set.apply(
      DirectorySummary<CountingBloomFilter<>>(test::sample_bits(), 42, {.publisher = "a"}).publish());
  DirectorySummary<CountingBloomFilter<>> other(test::sample_bits(), 42, {.publisher = "b"});
  const auto copy = other.publish();
  EXPECT_THROW((void)set.apply(copy), NoRoomForPeer);
  test::expect_refused([&] { (void)set.apply(copy); },
                       {"number of peers with 'b' is 2", "at most 1 (max_peers)"});
  EXPECT_EQ(set.apply(other.heartbeat()).result, ApplyResult::unknown);
  EXPECT_EQ(set.num_peers(), 1u);
}

TEST(SummaryTerms, WithAKeyOnlyWhatIsSignedWithItIsTaken) {
  const SummaryTerms terms{.hasher = 42, .key = test::sample_key()};
  auto directory = test::sample_bits_directory(test::sample_key());
  (void)directory.insert(std::uint64_t{1});
  const auto full = directory.publish();
  const auto expect_not_authentic = [&](const MessageBytes& message, const std::string& reason) {
    SummaryReplica replica(terms);
    SummarySet set(terms);
    EXPECT_THROW((void)replica.apply(message), NotAuthentic);
    EXPECT_THROW((void)set.apply(message), NotAuthentic);
    test::expect_refused([&] { (void)set.apply(message); }, {"summary of 'node-1'", reason});
    EXPECT_EQ(replica.status(), SummaryStatus{});
    EXPECT_EQ(set.num_peers(), 0u);
  };
  expect_not_authentic(in_format_version_1(full), "has no MAC");
  expect_not_authentic(test::sample_bits_directory().publish(), "has no MAC");
  expect_not_authentic(test::sample_bits_directory(test::sample_key(1)).publish(), "the MAC does not match");
  MessageBytes later = full;  // a forger's epoch
  test::set_field<std::uint64_t>(later, 24, 2000);
  test::repair_checksums(later);
  expect_not_authentic(later, "the MAC does not match");

  SummaryReplica replica(terms);
  SummarySet set(terms);
  EXPECT_EQ(replica.apply(full), ApplyResult::applied);
  const SummarySet::Applied applied = set.apply(full);
  EXPECT_EQ(applied.result, ApplyResult::applied);
  EXPECT_EQ(set.apply(full).result, ApplyResult::unchanged) << "a replay";
  for (const MessageBytes& request : {replica.request(), set.request(applied.peer)}) {
    EXPECT_TRUE(read_summary_message(request).is_signed_with(test::sample_key()));
  }
  // Whoever has no key cannot check it.
  EXPECT_EQ(SummaryReplica({.hasher = 42}).apply(full), ApplyResult::applied);
}

TEST(SummaryTerms, WhileAGroupChangesOverUnsignedMessagesAreTakenButNoForgedMacs) {
  const SummaryTerms terms{.hasher = 42, .key = test::sample_key(), .takes_unsigned = true};
  SummaryReplica replica(terms);
  const auto copy = test::sample_bits_directory().publish();
  EXPECT_EQ(replica.apply(in_format_version_1(copy)), ApplyResult::applied);
  EXPECT_THROW((void)replica.apply(test::sample_bits_directory(test::sample_key(1)).publish()), NotAuthentic);
}

// A directory whose contents are replaced by those of a file.
TEST(DirectorySummary, ContinuesTheVersionsOfAPublisherWithOtherContents) {
  Bits directory = test::sample_bits_directory();
  for (std::uint64_t key = 0; key < 50; ++key) (void)directory.insert(key);
  SummaryReplica replica({.hasher = 42});
  (void)replica.apply(directory.publish());
  // As large, a thousand times as large, and small again; each changes before it is published.
  for (const std::uint64_t num_counters : {1003, 1'003'000, 1003}) {
    const bool is_same_shape = num_counters == directory.layout().num_units();
    CountingBloomFilter<> other({.num_counters = num_counters, .num_hashes = 4}, 42);
    for (std::uint64_t key = 5; key < 55; ++key) (void)other.insert(key);
    directory = Bits(other, directory.publisher());
    for (std::uint64_t key = 55; key < 60; ++key) (void)directory.insert(key);
    EXPECT_NE(directory.remove(std::uint64_t{5}), RemoveResult::refused);
    const auto message = directory.publish();
    EXPECT_EQ(read_summary_message(message).kind == SummaryMessageKind::delta, is_same_shape);
    EXPECT_EQ(replica.apply(message), ApplyResult::applied);
    EXPECT_EQ(replica.status().held, directory.version());
    for (std::uint64_t key = 6; key < 60; ++key) EXPECT_TRUE(replica.may_contain(key)) << key;
  }
}

TEST(DirectorySummary, WhatIsPendingIsCountedAndForgottenWhenPublished) {
  Bits directory = bits_directory("node");
  insert(directory, 0, 100);
  EXPECT_EQ(directory.pending().num_inserted, 100u);
  (void)directory.publish(sample_time);
  EXPECT_FALSE(directory.pending().any());
  insert(directory, 100, 103);
  EXPECT_NE(directory.remove(std::uint64_t{100}), RemoveResult::refused);
  std::uint64_t never = 5000;
  while (directory.may_contain(never)) ++never;
  EXPECT_EQ(directory.remove(never), RemoveResult::refused);
  const PendingChanges pending = directory.pending();
  EXPECT_EQ(pending.num_keys, 102u);
  EXPECT_EQ(pending.num_inserted, 3u);
  EXPECT_EQ(pending.num_removed, 1u);
  const MessageBytes delta = directory.publish(sample_time);
  EXPECT_EQ(read_summary_message(delta).num_changes, pending.num_changed_units) << "of bits it is exact";
}

TEST(DirectorySummary, ChangesThatCancelOutAreNotSent) {
  Bits directory = bits_directory("node");
  insert(directory, 0, 100);
  (void)directory.publish(sample_time);
  insert(directory, 200, 230);
  for (std::uint64_t key = 200; key < 230; ++key) EXPECT_NE(directory.remove(key), RemoveResult::refused);
  EXPECT_EQ(directory.pending().num_changed_units, 0u);
  EXPECT_EQ(read_summary_message(directory.publish(sample_time)).kind, SummaryMessageKind::heartbeat);
  EXPECT_EQ(directory.version().sequence, 1u);
}

// A copy that is asked for while the filter has doubled but not published is that of the last version, not an empty one.
TEST(DirectorySummary, OfADirectoryThatGrewTheLastVersionIsToBeHadUntilTheNextIsPublished) {
  Cells directory = test::sample_cells_directory();
  insert(directory, 0, 20);
  SummaryReplica old({.hasher = 42});
  EXPECT_EQ(old.apply(directory.publish(sample_time)), ApplyResult::applied);
  insert(directory, 20, 100);
  ASSERT_NE(directory.filter().shape().num_doublings, 0u);
  EXPECT_EQ(old.apply(directory.full(sample_time)), ApplyResult::unchanged);
  SummaryReplica late({.hasher = 42});
  EXPECT_EQ(late.apply(directory.full(sample_time)), ApplyResult::applied);
  for (std::uint64_t key = 0; key < 20; ++key)
    EXPECT_TRUE(old.may_contain(key) && late.may_contain(key)) << key;
  EXPECT_EQ(old.apply(directory.publish(sample_time)), ApplyResult::applied);
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_TRUE(old.may_contain(key)) << key;
}

TEST(DirectorySummary, ADirectoryThatIsEmptiedSendsAFullCopyWhereThatIsShorter) {
  Bits directory = bits_directory("node");
  insert(directory, 0, 60);
  (void)directory.publish(sample_time);
  for (std::uint64_t key = 0; key < 60; ++key) EXPECT_NE(directory.remove(key), RemoveResult::refused);
  const MessageBytes message = directory.publish(sample_time);
  EXPECT_EQ(read_summary_message(message).kind, SummaryMessageKind::full);
  EXPECT_EQ(message.size(), 128u + 4);
}

TEST(DirectorySummary, OfAFilterThatHoldsKeysAlreadyAnnouncesThemAndBatchesDoWhatSingleKeysDo) {
  std::vector<std::uint64_t> keys(300);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const auto check = [&](auto one_by_one, auto batched) {
    insert(one_by_one, 0, 300);
    EXPECT_EQ(batched.insert_batch(keys), 0u);
    std::vector<RemoveResult> results(100);
    batched.remove_batch(std::span(keys).first(100), results);
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(one_by_one.remove(key), results[key]);
    EXPECT_TRUE(std::equal(one_by_one.words().begin(), one_by_one.words().end(), batched.words().begin()));
    EXPECT_EQ(one_by_one.publish(sample_time), batched.publish(sample_time));
    auto filter = one_by_one.filter();
    decltype(one_by_one) again(std::move(filter), SummaryOptions{"node", 1000});
    EXPECT_EQ(again.publish(sample_time), one_by_one.full(sample_time));
    EXPECT_EQ(again.pending().num_keys, 200u);
  };
  check(Bits({.num_counters = 5000, .num_hashes = 4}, 42, {"node", 1000}),
        Bits({.num_counters = 5000, .num_hashes = 4}, 42, {"node", 1000}));
  const DLeftShape cells{.buckets_per_subtable = 20};
  check(Cells(cells, 42, {"node", 1000}), Cells(cells, 42, {"node", 1000}));
}

TEST(SendPolicy, IsDueByTheShareOfNewKeysByTimeOrByBytesWhicheverComesFirst) {
  using std::chrono::seconds;
  PendingChanges pending{.num_keys = 1000, .num_units = 10'000};
  const SendPolicy at_once{.share_of_new_keys = 0};
  EXPECT_FALSE(at_once.is_due(pending, seconds(1'000'000))) << "nothing changed";
  pending.num_inserted = 9;
  pending.num_changed_units = 60;
  EXPECT_TRUE(at_once.is_due(pending, seconds(0)));
  const SendPolicy policy{.share_of_new_keys = 0.01, .interval = seconds(5), .num_bytes = 100};
  EXPECT_FALSE(policy.is_due(pending, seconds(4)));
  EXPECT_TRUE(policy.is_due(pending, seconds(5)));
  pending.num_inserted = 10;
  EXPECT_TRUE(policy.is_due(pending, seconds(0)));
  pending.num_inserted = 1;
  pending.num_removed = 10;
  EXPECT_TRUE(policy.is_due(pending, seconds(0)));
  pending.num_removed = 1;
  pending.num_changed_units = 100;
  EXPECT_TRUE(policy.is_due(pending, seconds(0))) << pending.estimated_bytes();
  expect_refused([] { SendPolicy{.share_of_new_keys = -1}.check(); }, {"share_of_new_keys is -1"});
  expect_refused([] { SendPolicy{.share_of_new_keys = NAN}.check(); }, {"share_of_new_keys is nan"});
  expect_refused([] { SendPolicy{.interval = seconds(0)}.check(); }, {"interval"});
  expect_refused([] { SendPolicy{.num_bytes = 0}.check(); }, {"num_bytes is 0"});
}

}  // namespace
}  // namespace tally

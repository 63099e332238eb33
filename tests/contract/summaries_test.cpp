#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "campaign.hpp"
#include "random.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/summaries/directory_summary.hpp"
#include "tally/summaries/replica.hpp"
#include "tally/summaries/set.hpp"

// A publisher, three followers and a network that loses, repeats, reorders and damages messages, beside an exact
// model: the bits of every version that was published.

namespace tally {
namespace {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t seed = 7;

Words copied(std::span<const std::uint64_t> words) { return {words.begin(), words.end()}; }

template <class Filter>
typename DirectorySummary<Filter>::Shape small_shape();
template <>
CountingBloomShape small_shape<CountingBloomFilter<>>() {
  return {.num_counters = 1500, .num_hashes = 5, .counter_bits = 2};  // narrow, so that counters saturate
}
template <>
DLeftShape small_shape<DLeftCountingBloomFilter<>>() {
  return {.buckets_per_subtable = 5, .remainder_bits = 14, .least_remainder_bits = 12, .grows = true};
}

// The followers: two replicas and a set, one interface.
struct Follower {
  std::optional<SummaryReplica> replica;
  std::optional<SummarySet> set;
  Bytes heard;  // by a set, of a publisher that is no peer

  explicit Follower(bool is_set) { restart(is_set); }

  void restart(bool is_set) {
    const SummaryTerms terms{.hasher = seed};
    replica.reset();
    set.reset();
    heard.clear();
    is_set ? (void)set.emplace(terms) : (void)replica.emplace(terms);
  }

  ApplyResult apply(const Bytes& message) {
    const ApplyResult result = set ? set->apply(message).result : replica->apply(message);
    if (result == ApplyResult::unknown) {
      heard = message;
    } else {
      heard.clear();
    }
    return result;
  }

  bool needs_full() const { return !heard.empty() || status().needs_full(); }

  SummaryStatus status() const {
    if (replica) return replica->status();
    const auto peer = set->find("node");
    return peer ? set->status(*peer) : SummaryStatus{};
  }

  Bytes request() const {
    if (replica) return replica->request();
    if (!heard.empty()) return set->request_of_unknown(read_summary_message(heard));
    const auto peer = set->find("node");
    return peer ? set->request(*peer) : Bytes{};
  }

  Words words() const {
    if (replica) return replica->table() ? copied(replica->table()->words()) : Words{};
    const auto peer = set->find("node");
    if (!peer || set->layout(*peer) == nullptr) return {};
    SummaryTable table(*set->layout(*peer));
    for (std::uint64_t i = 0; i < table.num_units(); ++i) table.put(i, set->unit(*peer, i));
    return copied(table.words());
  }

  bool may_contain(std::uint64_t key) const {
    return replica ? replica->may_contain(key) : !set->who_may_have(key).empty();
  }
};

template <class Filter>
class Network {
 public:
  explicit Network(std::uint64_t random_seed) : random_(random_seed) {
    for (int i = 0; i < 3; ++i) followers_.emplace_back(i == 2);
    in_flight_.resize(followers_.size());
    restart_publisher();
  }

  void run(std::uint64_t num_steps) {
    for (std::uint64_t i = 0; i < num_steps && !::testing::Test::HasFailure(); ++i) step();
  }

  // Without losses now, every follower catches up.
  void settle() {
    publish();
    for (std::size_t i = 0; i < followers_.size(); ++i) {
      in_flight_[i].clear();
      Follower& follower = followers_[i];
      (void)follower.apply(publisher_->heartbeat());
      for (int tries = 0; follower.needs_full(); ++tries) {
        ASSERT_LT(tries, 3) << "a request brings a full copy";
        const Bytes request = follower.request();
        const Bytes answer = publisher_->answer(read_summary_message(request));
        remember();
        (void)follower.apply(answer);
      }
      const SummaryStatus status = follower.status();
      EXPECT_EQ(status.held, publisher_->version());
      EXPECT_TRUE(status.is_current());
      EXPECT_EQ(follower.words(), copied(publisher_->words()));
      EXPECT_EQ(status.num_versions_behind(), 0u);
      for (const std::uint64_t key : keys_) EXPECT_TRUE(follower.may_contain(key)) << key;
    }
  }

  struct Seen {
    std::uint64_t applied = 0, unchanged = 0, behind = 0, damaged = 0, restarts = 0, full = 0, deltas = 0;
  };
  const Seen& seen() const { return seen_; }

 private:
  void step() {
    const std::uint64_t what = random_.below(1000);
    if (what < 400) {
      change_a_key();
    } else if (what < 500) {
      publish();
    } else if (what < 530) {
      send(publisher_->heartbeat());
    } else if (what < 999) {
      deliver(random_.below(followers_.size()));
    } else if (random_.below(10) == 0) {
      restart_publisher();
    } else if (random_.below(3) == 0) {
      const std::size_t i = random_.below(followers_.size());
      followers_[i].restart(i == 2);
    }
  }

  void change_a_key() {
    if (!keys_.empty() && random_.below(200) < keys_.size()) {
      const std::size_t i = random_.below(keys_.size());
      EXPECT_NE(publisher_->remove(keys_[i]), RemoveResult::refused);
      keys_[i] = keys_.back();
      keys_.pop_back();
    } else {
      const std::uint64_t key = random_.below(1000);
      if (publisher_->insert(key) != InsertResult::full) keys_.push_back(key);
    }
  }

  void publish() {
    const Bytes message = publisher_->publish();
    const SummaryMessageKind kind = read_summary_message(message).kind;
    seen_.full += kind == SummaryMessageKind::full;
    seen_.deltas += kind == SummaryMessageKind::delta;
    remember();
    send(message);
  }

  void remember() {
    if (published_.size() > 3000) published_.clear();
    published_[publisher_->version()] = copied(publisher_->publisher().published().words());
  }

  void send(const Bytes& message) {
    for (auto& queue : in_flight_) {
      queue.push_back(message);
      if (queue.size() > 50) queue.erase(queue.begin());
    }
  }

  void deliver(std::size_t i) {
    Follower& follower = followers_[i];
    auto& queue = in_flight_[i];
    if (follower.needs_full() && random_.below(4) == 0) {
      queue.push_back(publisher_->answer(read_summary_message(follower.request())));
      remember();
    }
    if (queue.empty()) return;
    // Mostly in order, as wires are; now and then any of those under way.
    const std::size_t at = random_.below(5) == 0 ? random_.below(queue.size()) : 0;
    Bytes message = queue[at];
    const std::uint64_t fate = random_.below(20);
    if (fate != 0) queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));  // else it comes again
    if (fate == 1) return;                                                        // lost
    const SummaryStatus before = follower.status();
    if (fate == 2) {
      message[random_.below(message.size())] ^= static_cast<std::byte>(1 + random_.below(255));
      EXPECT_THROW((void)follower.apply(message), FormatError);
      EXPECT_EQ(follower.status().held, before.held);
      ++seen_.damaged;
      return;
    }
    const ApplyResult result = follower.apply(message);
    const SummaryStatus status = follower.status();
    seen_.applied += result == ApplyResult::applied;
    seen_.unchanged += result == ApplyResult::unchanged;
    seen_.behind += result == ApplyResult::behind;
    EXPECT_GE(status.held, before.held) << "a replica never goes back";
    EXPECT_LE(status.held, status.newest);
    EXPECT_TRUE(result != ApplyResult::behind || status.needs_full());
    EXPECT_FALSE(status.has_diverged);
    const auto found = published_.find(status.held);
    EXPECT_TRUE(found == published_.end() || follower.words() == found->second);
  }

  // With other keys; the clock, and so the epoch, may have been set back.
  void restart_publisher() {
    ++seen_.restarts;
    std::uint64_t epoch = 0;
    do epoch = 1'000'000 + 1000 * random_.below(1'000'000);
    while (!epochs_.insert(epoch).second);
    publisher_.emplace(small_shape<Filter>(), KeyHasher(seed), SummaryOptions{"node", epoch});
    keys_.clear();
    while (keys_.size() < 40) change_a_key();
    publish();
  }

  test::Random random_;
  std::optional<DirectorySummary<Filter>> publisher_;
  std::vector<std::uint64_t> keys_;
  std::set<std::uint64_t> epochs_;
  std::map<SummaryVersion, Words> published_;
  std::vector<Follower> followers_;
  std::vector<std::vector<Bytes>> in_flight_;
  Seen seen_;
};

template <class Filter>
class Summaries : public ::testing::Test {};
using Filters = ::testing::Types<CountingBloomFilter<>, DLeftCountingBloomFilter<>>;
TYPED_TEST_SUITE(Summaries, Filters);

TYPED_TEST(Summaries, WhateverBecomesOfMessagesAReplicaHoldsTheBitsOfItsVersionAndKnowsWhatItLacks) {
  Network<TypeParam> network(1);
  const std::uint64_t num_steps = std::max<std::uint64_t>(100'000, test::campaign_operations() / 2);
  for (int rounds = 0; rounds < 20 && !this->HasFailure(); ++rounds) {
    network.run(num_steps / 20);
    network.settle();
  }
  const auto& seen = network.seen();
  EXPECT_GT(seen.applied, num_steps / 50);
  EXPECT_GT(seen.unchanged, num_steps / 200);
  EXPECT_GT(seen.behind, num_steps / 50);
  EXPECT_GT(seen.damaged, num_steps / 200);
  EXPECT_GT(seen.deltas, num_steps / 50);
  EXPECT_GT(seen.restarts, 1u);
}

}  // namespace
}  // namespace tally

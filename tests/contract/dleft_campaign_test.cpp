// Random operations on d-left filters of every small shape, against an exact multiset of fingerprints.
//
// TALLY_OPERATIONS sets how many in total, 2 million at least: with fewer, some events never come. An operation
// is one insert, remove or query of a key, or a growth, halving, merge, save or load of the whole filter. Tables
// are small and heavy multiplicities common, so that fingerprints are shared, buckets full, cells moved and counters
// spilled all the time.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "support/campaign.hpp"
#include "support/dleft.hpp"
#include "support/random.hpp"
#include "tally/serialization.hpp"

namespace tally::test {
namespace {

std::uint64_t total_operations() { return std::max<std::uint64_t>(2'000'000, campaign_operations()); }

struct Events {
  std::uint64_t num_operations = 0;
  std::uint64_t num_full = 0;
  std::uint64_t num_rescues = 0;
  std::uint64_t num_spilled = 0;
  std::uint64_t num_growths = 0;
  std::uint64_t num_halvings = 0;
  std::uint64_t num_merges = 0;
  std::uint64_t num_refused_merges = 0;
  std::uint64_t num_loads = 0;
};

struct NamedEvent {
  const char* name;
  std::uint64_t Events::*number;
};
constexpr NamedEvent named_events[] = {{"operations", &Events::num_operations},
                                       {"full", &Events::num_full},
                                       {"by_moves", &Events::num_rescues},
                                       {"spilled", &Events::num_spilled},
                                       {"growths", &Events::num_growths},
                                       {"halvings", &Events::num_halvings},
                                       {"merges", &Events::num_merges},
                                       {"refused_merges", &Events::num_refused_merges},
                                       {"loads", &Events::num_loads}};

/// One filter's life, in batches of random keys.
template <class Scheme>
class DLeftLife {
 public:
  using Filter = DLeftCountingBloomFilter<Scheme>;

  DLeftLife(const DLeftShape& shape, Random& random)
      : filter_(shape, random.next()), random_(random), universe_(2 * shape.num_cells()) {}

  void run(std::uint64_t budget) {
    while (events_.num_operations < budget && !testing::Test::HasFailure()) step();
    events_.num_full += filter_.totals().num_full;
    events_.num_rescues += filter_.totals().num_rescues;
    EXPECT_EQ(fingerprints_of(filter_), ExactFingerprints(exact_.begin(), exact_.end()));
  }

  const Events& events() const { return events_; }

 private:
  static constexpr std::size_t max_keys = 256;

  std::vector<std::uint64_t> random_keys() {
    std::vector<std::uint64_t> keys(random_.between(1, max_keys));
    for (std::uint64_t& key : keys) key = random_.below(random_.below(universe_) + 1);
    return keys;
  }
  std::uint64_t fingerprint_of(std::uint64_t key) const {
    return filter_.shape().fingerprint_space().fingerprint_of(filter_.hasher()(key));
  }
  std::uint64_t count_of(std::uint64_t key) const {
    const auto found = exact_.find(fingerprint_of(key));
    return found == exact_.end() ? 0 : found->second;
  }

  void step() {
    switch (random_.below(64)) {
      case 0:
        return grow();
      case 1:
        return halve();
      case 2:
        return merge();
      case 3:
        return save_and_load();
      case 4:  // one key, over and over
        return insert(std::vector<std::uint64_t>(max_keys, random_keys()[0]));
      case 5:
        return remove(std::vector<std::uint64_t>(max_keys, random_keys()[0]));
      case 6:  // all the batches of a phase of growth
        for (int i = 0; i < 20; ++i) insert(random_keys());
        return;
      case 7:
        for (int i = 0; i < 20; ++i) remove(random_keys());
        return;
      default:
        query(random_keys());
        return random_.below(2) == 0 ? insert(random_keys()) : remove(random_keys());
    }
  }

  void insert(const std::vector<std::uint64_t>& keys) {
    std::vector<InsertResult> results(keys.size());
    const std::uint32_t num_doublings = filter_.shape().num_doublings;
    filter_.insert_batch(keys, results);
    events_.num_growths += filter_.shape().num_doublings - num_doublings;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (results[i] == InsertResult::counted) ++exact_[fingerprint_of(keys[i])];
    }
    events_.num_operations += keys.size();
    query(keys);
  }

  void remove(const std::vector<std::uint64_t>& keys) {
    std::vector<RemoveResult> results(keys.size());
    filter_.remove_batch(keys, results);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = exact_.find(fingerprint_of(keys[i]));
      const bool is_in = found != exact_.end();
      ASSERT_EQ(results[i], is_in ? RemoveResult::removed : RemoveResult::refused) << keys[i];
      if (is_in && --found->second == 0) exact_.erase(found);
    }
    events_.num_operations += keys.size();
    query(keys);
  }

  /// No false negative, no count but the exact one.
  void query(const std::vector<std::uint64_t>& keys) {
    std::array<bool, max_keys> found;
    std::array<Count, max_keys> counts;
    filter_.may_contain_batch(keys, std::span(found).first(keys.size()));
    filter_.count_batch(keys, std::span(counts).first(keys.size()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t count = count_of(keys[i]);
      ASSERT_EQ(found[i], count > 0) << keys[i];
      ASSERT_EQ(counts[i], (Count{count, false})) << keys[i];
    }
    events_.num_operations += keys.size();
  }

  void grow() {
    ++events_.num_operations;
    events_.num_growths += filter_.try_grow();
  }

  void halve() {
    ++events_.num_operations;
    events_.num_halvings += filter_.try_halve();
  }

  void merge() {
    DLeftShape shape = filter_.shape();
    shape.num_doublings = 0;
    Filter other(shape, filter_.hasher());
    for (const std::uint64_t key : random_keys()) (void)other.insert(key);
    while (random_.below(4) == 0 && other.try_grow()) {
    }
    ++events_.num_operations;
    if (!filter_.merge(other)) {
      ++events_.num_refused_merges;
      return;
    }
    ++events_.num_merges;
    other.for_each_fingerprint(
        [&](std::uint64_t fingerprint, std::uint64_t count) { exact_[fingerprint] += count; });
  }

  void save_and_load() {
    events_.num_spilled += filter_.statistics().table.num_spilled;
    const AnyFilter loaded = deserialize(serialize(AnyFilter(filter_)));
    loaded.visit([&](const auto& filter) {
      if constexpr (std::is_same_v<std::decay_t<decltype(filter)>, Filter>) {
        filter_ = filter;
        ++events_.num_loads;
      }
    });
    events_.num_operations += 2;
  }

  Filter filter_;
  Random& random_;
  std::uint64_t universe_;
  std::unordered_map<std::uint64_t, std::uint64_t> exact_;
  Events events_;
};

template <class Scheme>
Events campaign(std::uint64_t num_operations, std::uint64_t seed) {
  Random random(seed);
  Events events;
  const std::vector<DLeftShape> shapes = small_dleft_shapes();
  for (std::size_t i = 0; i < 2 * shapes.size() && !testing::Test::HasFailure(); ++i) {
    DLeftShape shape = shapes[i / 2];
    shape.grows = i % 2 != 0;
    SCOPED_TRACE("shape " + std::to_string(i / 2) + (shape.grows ? ", grows" : ""));
    DLeftLife<Scheme> life(shape, random);
    life.run(num_operations / (2 * shapes.size()));
    for (const auto [name, number] : named_events) events.*number += life.events().*number;
  }
  return events;
}

TEST(DLeftCampaign, NoOperationOnAnyShapeEverLosesOrInventsAFingerprint) {
  const Events rotation = campaign<RotationBuckets>(total_operations() / 2, 1);
  const Events multiplier = campaign<MultiplierBuckets>(total_operations() / 2, 2);
  for (const auto [name, number] : named_events) {
    EXPECT_GT(rotation.*number, 0u) << name;
    EXPECT_GT(multiplier.*number, 0u) << name;
    RecordProperty(name, std::to_string(rotation.*number + multiplier.*number));
  }
}

}  // namespace
}  // namespace tally::test

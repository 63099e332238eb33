// Random legal operations on every filter, width and scheme, against an exact multiset.
//
// TALLY_OPERATIONS sets how many in total (default 2 million; 10^8 take some minutes). An operation is
// one insert, remove, query or merge. Only keys in the multiset are removed. Universes are small and
// multiplicities heavy, and filters are merged with copies of themselves, so that counters of every
// width saturate, the 64-bit ones too.

#include <gtest/gtest.h>

#include <string>

#include "support/campaign.hpp"
#include "support/filters.hpp"

namespace tally::test {
namespace {

struct Progress {
  std::uint64_t num_operations = 0;
  std::uint64_t num_saturated_filters = 0;
  std::uint64_t num_merges = 0;
  std::uint64_t num_removes = 0;

  void add(const Progress& other) {
    num_operations += other.num_operations;
    num_saturated_filters += other.num_saturated_filters;
    num_merges += other.num_merges;
    num_removes += other.num_removes;
  }
};

/// One filter's life: random operations until `budget` of them are spent, then a check of every key.
template <class Filter>
class Life {
 public:
  Life(const typename Subject<Filter>::Shape& shape, std::uint64_t universe, Random& random)
      : filter_(shape, random.next()), twin_(universe), random_(random) {}

  void run(std::uint64_t budget) {
    while (progress_.num_operations < budget && !testing::Test::HasFailure()) step();
    expect_promises_kept(filter_, twin_);
    progress_.num_operations += twin_.universe();
    if constexpr (Subject<Filter>::has_counters) {
      progress_.num_saturated_filters = filter_.statistics().num_saturated != 0;
    }
  }

  const Progress& progress() const { return progress_; }

 private:
  std::uint64_t random_key() { return random_.below(random_.below(twin_.universe()) + 1); }

  void step() {
    switch (random_.below(32)) {
      case 0:
        return insert_keys(skewed_keys(random_, twin_.universe(), 200));
      case 1:
        return insert_keys(std::vector<std::uint64_t>(random_.between(1, 300), random_key()));  // a burst
      case 2:
        return merge();
      case 3:
      case 4:
        return remove_many();
      default:
        return random_.below(4) == 0 ? remove_one() : query_and_insert();
    }
  }

  void insert_keys(const std::vector<std::uint64_t>& keys) {
    insert_into_both(filter_, twin_, keys);
    progress_.num_operations += keys.size();
  }

  void query_and_insert() {
    for (int i = 0; i < 8; ++i) {
      expect_kept(random_key());
      const std::uint64_t key = random_key();
      filter_.insert(key);
      twin_.insert(key);
      expect_kept(key);
      progress_.num_operations += 3;
    }
  }

  void remove_one() {
    if constexpr (Subject<Filter>::has_remove) {
      if (twin_.empty()) return;
      const std::uint64_t key = twin_.present()[random_.below(twin_.present().size())];
      EXPECT_NE(filter_.remove(key), RemoveResult::refused) << key;
      twin_.remove(key);
      expect_kept(key);
      progress_.num_operations += 2;
      ++progress_.num_removes;
    }
  }

  /// A batch of legal removes; one key is often taken out entirely.
  void remove_many() {
    if constexpr (Subject<Filter>::has_remove) {
      std::vector<std::uint64_t> keys;
      while (keys.size() < 200 && !twin_.empty()) {
        const std::uint64_t key = twin_.present()[random_.below(twin_.present().size())];
        for (std::uint64_t times = random_.between(1, 100); times > 0 && twin_.count(key) > 0; --times) {
          keys.push_back(key);
          twin_.remove(key);
        }
      }
      std::vector<RemoveResult> results(keys.size());
      filter_.remove_batch(keys, results);
      EXPECT_EQ(std::ranges::count(results, RemoveResult::refused), 0);
      progress_.num_operations += keys.size();
      progress_.num_removes += keys.size();
    }
  }

  /// With a filter of other keys, or with a copy of itself: 2^100 times the keys at most.
  void merge() {
    ++progress_.num_operations;
    ++progress_.num_merges;
    if (random_.below(2) == 0) {
      Filter other(filter_.shape(), filter_.hasher());
      ExactMultiset others(twin_.universe());
      const auto keys = skewed_keys(random_, twin_.universe(), random_.between(1, 100));
      insert_into_both(other, others, keys);
      progress_.num_operations += keys.size();
      filter_.merge(other);
      twin_.merge(others);
      return;
    }
    const std::uint64_t times = random_.below(20);
    for (std::uint64_t i = 0; i < times && num_doublings_ < 100; ++i, ++num_doublings_) {
      filter_.merge(Filter(filter_));
      twin_.merge(twin_);
      ++progress_.num_operations;
      ++progress_.num_merges;
    }
  }

  void expect_kept(std::uint64_t key) {
    EXPECT_TRUE(Subject<Filter>::keeps_promise(filter_, key, twin_.count(key)))
        << Subject<Filter>::name() << " " << key;
  }

  Filter filter_;
  ExactMultiset twin_;
  Random& random_;
  Progress progress_;
  int num_doublings_ = 0;
};

template <class Filter>
class OperationsCampaign : public testing::Test {};
TYPED_TEST_SUITE(OperationsCampaign, AllFilters, FilterNames);

TYPED_TEST(OperationsCampaign, ZeroFalseNegativesInManyLegalOperations) {
  using S = Subject<TypeParam>;
  constexpr std::uint64_t num_types = 27;
  const std::uint64_t budget = campaign_operations() / num_types;
  const std::size_t num_shapes = S::shapes(100, 1).size();
  Random random(budget + 1);
  Progress progress;
  for (std::size_t chosen = 0; chosen < num_shapes; ++chosen) {
    Progress here;
    while (here.num_operations < budget / num_shapes) {
      const auto k = static_cast<std::uint32_t>(random.between(1, random.below(8) == 0 ? 40 : 8));
      const std::uint64_t m = random.between(1, random.below(2) == 0 ? 64 : 4096);
      const auto shape = S::shapes(m, k)[chosen];
      Life<TypeParam> life(shape, random.between(1, 300), random);
      life.run(std::min<std::uint64_t>(5000, budget / num_shapes - here.num_operations));
      here.add(life.progress());
      ASSERT_FALSE(this->HasFailure()) << "m " << m << ", k " << k << ", shape " << chosen;
    }
    if (S::has_counters && here.num_operations > 300'000) {  // wide ones seldom saturate
      EXPECT_GT(here.num_saturated_filters, 0u) << "no counter saturated; shape " << chosen;
    }
    progress.add(here);
  }
  this->RecordProperty("operations", std::to_string(progress.num_operations));
  this->RecordProperty("removes", std::to_string(progress.num_removes));
  this->RecordProperty("merges", std::to_string(progress.num_merges));
  this->RecordProperty("filters_with_saturated_counters", std::to_string(progress.num_saturated_filters));
  EXPECT_GE(progress.num_operations, budget / num_shapes * num_shapes);
}

}  // namespace
}  // namespace tally::test

// Filters at their planned load in which a random member leaves and a new key comes, again and again.
//
// TALLY_OPERATIONS sets how many times, in each filter (default 2 million; 10^9 take about a minute in each). Prints the
// time of an operation in each tenth of the campaign: it should not rise.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "support/campaign.hpp"
#include "support/dleft_rates.hpp"
#include "support/expect_rates.hpp"
#include "support/random.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/planner.hpp"

namespace tally::test {
namespace {

constexpr std::uint64_t num_members = 1'000'000;
constexpr std::size_t keys_per_batch = 1000;

Hash128 churn_digest(std::uint64_t key) { return {mix64(2 * key + 1), mix64(2 * key + 2)}; }

std::vector<Hash128> churn_digests(const std::vector<std::uint64_t>& keys) {
  std::vector<Hash128> digests(keys.size());
  std::ranges::transform(keys, digests.begin(), churn_digest);
  return digests;
}

template <class Filter>
void expect_lasting_churn(const std::string& name, Filter filter) {
  std::vector<std::uint64_t> members(num_members);
  std::uint64_t next = 0;
  for (std::uint64_t& key : members) {
    key = next++;
    ASSERT_EQ(filter.insert(churn_digest(key)), InsertResult::counted) << name;
  }
  Random random(31);
  std::vector<Hash128> leaving(keys_per_batch);
  std::vector<Hash128> coming(keys_per_batch);
  std::vector<RemoveResult> removed(keys_per_batch);
  std::vector<InsertResult> inserted(keys_per_batch);
  MeasuredRate measured(num_members);
  constexpr std::uint64_t num_parts = 10;
  const std::uint64_t batches_per_part = campaign_operations() / num_parts / keys_per_batch;
  for (std::uint64_t part = 0; part < num_parts; ++part) {
    std::chrono::duration<double, std::nano> time{};
    for (std::uint64_t batch = 0; batch < batches_per_part; ++batch) {
      // From a random place on, in steps that meet no member twice.
      const std::uint64_t first = random.below(num_members);
      for (std::size_t i = 0; i < keys_per_batch; ++i) {
        std::uint64_t& member = members[(first + i * 7919) % num_members];
        leaving[i] = churn_digest(member);
        member = next++;
        coming[i] = churn_digest(member);
      }
      const auto start = std::chrono::steady_clock::now();
      filter.remove_batch(leaving, removed);
      filter.insert_batch(coming, inserted);
      time += std::chrono::steady_clock::now() - start;
      ASSERT_EQ(std::ranges::count(removed, RemoveResult::removed), keys_per_batch) << name;
      ASSERT_EQ(std::ranges::count(inserted, InsertResult::counted), keys_per_batch) << name;
    }
    ASSERT_EQ(num_found(filter, churn_digests(members)), num_members) << name << ": a key is missing";
    std::vector<std::uint64_t> absent(num_members);
    for (std::uint64_t i = 0; i < num_members; ++i)
      absent[i] = (std::uint64_t{1} << 62) + part * num_members + i;
    measured.add_filter(num_found(filter, churn_digests(absent)));
    std::printf("%s, part %d: %.1f ns per operation\n", name.c_str(), static_cast<int>(part),
                time.count() / static_cast<double>(batches_per_part * keys_per_batch));
  }
  expect_predicted({{name, predicted_rate(filter.shape(), num_members), measured}});
  for (const std::uint64_t key : members)
    ASSERT_EQ(filter.remove(churn_digest(key)), RemoveResult::removed) << name;
  EXPECT_EQ(filter.table().num_fingerprints(), 0u) << name;
}

TEST(ChurnCampaign, ACompactFilterRefusesNothingAndKeepsItsRate) {
  for (const double rate : {0.0045, 0.002, 0.0002}) {
    const CompactDLeftShape shape =
        plan_compact_dleft({.num_keys = num_members, .false_positive_rate = rate, .keys_repeat = false});
    expect_lasting_churn("compact-dleft " + std::to_string(shape.remainder_bits),
                         CompactDLeftFilter(shape, KeyHasher(1)));
  }
}

TEST(ChurnCampaign, ADLeftFilterRefusesNothingAndKeepsItsRate) {
  DLeftShape shape{.num_subtables = 2, .cells_per_bucket = 32};
  shape.buckets_per_subtable = static_cast<std::uint64_t>(num_members / 0.87 / 64) + 1;
  shape.least_remainder_bits = shape.remainder_bits;
  expect_lasting_churn("dleft 2 x 32", DLeftCountingBloomFilter<>(shape, KeyHasher(1)));
}

}  // namespace
}  // namespace tally::test

#include <memory>
#include <string>

#include "describe.hpp"
#include "fail_each.hpp"
#include "sample_streams.hpp"
#include "tally/any_filter/simulation.hpp"
#include "tally/streams/exact_check.hpp"
#include "tally/streams/reported_keys.hpp"
#include "tally/streams/values_by_key.hpp"

// What streams are made of, where there is no memory. The others, TimeRing and the like, are tried within streams.

namespace tally::test {
namespace {

using Words = std::vector<std::uint64_t>;

// RecentDigests, within it, has to hold whatever the set holds.
TEST(Allocation, AReportedKeyIsAddedWhollyOrNotAtAll) {
  for (const std::size_t num_before : {0u, 13u, 500u}) {
    const auto make = [&] {
      auto keys = std::make_unique<ReportedKeys>(~std::uint64_t{0});
      Random random(3);
      keys->begin_batch();
      for (std::size_t i = 0; i < num_before; ++i) (void)keys->add(random.digest());
      return keys;
    };
    const auto describe = [](const std::unique_ptr<ReportedKeys>& keys) {
      Words words = keys->set().image();
      for (const Hash128 digest : keys->added()) words.insert(words.end(), {digest.low, digest.high});
      return words;
    };
    // One key at a time.
    for (std::uint64_t next = 0; next < 40; ++next) {
      const auto make_further = [&] {
        auto keys = make();
        for (std::uint64_t i = 0; i < next; ++i) (void)keys->add(Random(100 + i).digest());
        return keys;
      };
      fail_each(
          "add", make_further,
          [&](std::unique_ptr<ReportedKeys>& keys) { (void)keys->add(Random(100 + next).digest()); },
          describe);
    }
  }
}

TEST(Allocation, AValueOfANewKeyIsThereWhollyOrNotAtAll) {
  const auto make = [] {
    auto values = std::make_unique<ValuesByKey<std::uint64_t>>();
    for (int i = 0; i < 13; ++i) (*values)[std::to_string(i)] = 1;
    return values;
  };
  const auto describe = [](const std::unique_ptr<ValuesByKey<std::uint64_t>>& values) {
    return values->size();
  };
  EXPECT_GT(fail_each(
                "operator[]", make,
                [](std::unique_ptr<ValuesByKey<std::uint64_t>>& values) {
                  (*values)["a key of more than fifteen bytes"] = 2;
                },
                describe),
            0u);
}

TEST(Allocation, ASimulationGivesItsResultOrThrows) {
  SimulationPlan plan;
  plan.shape = {BloomShape{.num_bits = 512, .num_hashes = 3}, DefaultScheme::file_id};
  plan.num_insertions = 50;
  plan.num_trials = 2;
  plan.num_queries = 100;
  EXPECT_GT(fail_each(
                "simulate", [] { return SimulationResult{}; },
                [&](SimulationResult& result) { result = simulate(plan); },
                [](const SimulationResult& result) {
                  return Words{result.num_positives_checked, result.rates.size(),
                               result.rates.empty() ? 0 : result.rates[0].num_passed};
                }),
            3u);
}

// Nothing worse than the exception.
TEST(Allocation, AnExactCheckThrows) {
  const SampleRecords sample(300, 100, 4);
  std::uint64_t num_refused = 0;
  for (std::uint64_t which = 0, is_refused = 1; is_refused != 0; which += 1 + which / 8) {
    const FailingAllocation failing(which);
    try {
      ExactCheck check(2);
      ThresholdStream stream({.threshold = 2, .hasher = 42, .exact_keys = 10}, &check);
      for (std::size_t begin = 0; begin < sample.size(); begin += 50) {
        check.begin_batch(sample.all().keys.subspan(begin, 50));
        stream.add_batch(sample.all().digests.subspan(begin, 50));
      }
      EXPECT_EQ(check.result().num_missed, 0u);
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(FailingAllocation::has_failed());
    }
    is_refused = FailingAllocation::has_failed();
    num_refused += is_refused;
  }
  EXPECT_GT(num_refused, 10u);
}

}  // namespace
}  // namespace tally::test

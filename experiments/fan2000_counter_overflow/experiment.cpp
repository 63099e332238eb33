// Fan et al. 2000 (Summary Cache), how large the counters get: the bounds and the asymptotic mean against the largest
// counters of real filters. README.md has the claims.

#include <algorithm>
#include <cmath>

#include "churn.hpp"
#include "fresh_filters.hpp"
#include "largest_counter_law.hpp"
#include "run_experiment.hpp"
#include "tally/theory/counter_overflow.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint32_t k = 7;
constexpr std::uint64_t greatest_tallied = 32;

/// The most keys that k is not above the best number of hash functions for: k <= (m/n) ln 2.
std::uint64_t num_keys_for(std::uint64_t m) {
  return static_cast<std::uint64_t>(static_cast<double>(m) * std::log(2) / k);
}

std::uint64_t largest_counter(std::uint64_t m, std::uint64_t seed) {
  test::Random random(seed);
  CountingBloomFilter<StandardScheme> filter({m, k, 8, 1}, KeyHasher(0));
  use_fresh_digests(random, num_keys_for(m),
                    [&](std::span<const Hash128> digests) { (void)filter.insert_batch(digests); });
  const CounterArray& counters = filter.storage();
  std::uint64_t largest = 0;
  while (counters.num_at_least(largest + 1, 0, m) != 0) ++largest;
  return largest;
}

void add_size(std::uint64_t m, std::uint64_t num_trials, const Options& options, Report& report) {
  const std::uint64_t n = num_keys_for(m);
  const std::string name = fmt::format("2^{} counters", std::llround(std::log2(m)));
  Mean largest;
  std::vector<Share> at_least(greatest_tallied + 1);
  for (const std::uint64_t value :
       run_trials(options, name, num_trials, [&](std::uint64_t seed) { return largest_counter(m, seed); })) {
    largest.add(static_cast<double>(value));
    for (std::uint64_t i = 1; i <= greatest_tallied; ++i) at_least[i].add(value >= i);
  }
  double mean = 0;
  for (std::uint64_t i = 1; i <= greatest_tallied; ++i) mean += largest_counter_tail(m, n * k, i);
  const auto add = [&](std::string quantity, std::uint64_t i, Claim claim, double predicted) {
    report.add({.setting = name,
                .quantity = std::move(quantity),
                .x = static_cast<double>(i),
                .claim = claim,
                .predicted = predicted,
                .measured = at_least[i]});
  };
  for (std::uint64_t i = 3; i <= greatest_tallied; ++i) {
    const double exact = largest_counter_tail(m, n * k, i);
    if (exact > 0.99999 || exact < 1e-5) continue;
    add(fmt::format("Pr(largest >= {}) by the law of the largest", i), i, Claim::equal, exact);
    const auto add_bound = [&](std::string bound, double value) {
      if (value < 1) add(fmt::format("Pr(largest >= {}) below {}", i, bound), i, Claim::below, value);
    };
    add_bound("m C(nk i)/m^i", theory::counter_overflow_bound(m, k, n, i));
    add_bound("m (e n k/(i m))^i", theory::counter_overflow_bound_simple(m, k, n, i));
    add_bound("m (e ln 2/i)^i", theory::counter_overflow_bound_best_k(m, i));
  }
  report.add(
      {.setting = name, .quantity = "mean of the largest counter", .predicted = mean, .measured = largest});
  report.add({.setting = name,
              .quantity = "its asymptotic mean G(m) (1 + ln(kn/m)/ln G(m))",
              .predicted = theory::expected_largest_counter(m, k, n),
              .measured = without_limits(largest.mean(), num_trials)});
  report.add({.setting = name,
              .quantity = "largest counter of all trials",
              .measured = without_limits(largest.greatest(), num_trials)});
  report.add({.setting = name,
              .quantity = "Pr(largest >= 16) at most by the union bound",
              .predicted = theory::counter_overflow_union_bound(m, k, n, 16)});
  for (std::uint64_t i = 3; i <= 16; ++i) {
    const auto add_point = [&](std::string curve, double value) {
      report.add({.setting = fmt::format("curve {} {}", curve, name),
                  .quantity = curve,
                  .x = static_cast<double>(i),
                  .predicted = value});
    };
    const double exact = largest_counter_tail(m, n * k, i);
    add_point("law", exact > 1e-9 ? exact : theory::counter_overflow_union_bound(m, k, n, i));
    add_point("bound", theory::counter_overflow_bound_best_k(m, i));
  }
}

/// Each step of the churn adds to k counters; the counter is i then if Binomial(others, 1/m) was i - 1 before.
double chance_of_rise_to(std::uint64_t m, std::uint64_t i) {
  const auto num_others = static_cast<double>((num_keys_for(m) - 1) * k);
  return k * std::exp(theory::ln_binomial_point(i - 1, num_others, 1 / static_cast<double>(m)));
}

/// 'In practice ... we keep doing insertions and deletions.'
void add_churn(const Options& options, Report& report) {
  constexpr std::uint64_t m = 1 << 13;
  constexpr std::uint64_t watched[] = {7, 8, 9};
  const StandardScheme scheme({m, k, 0});
  using Rises = std::vector<std::uint64_t>;
  const auto trials = run_trials(options, "churn", options.trials, [&](std::uint64_t seed) {
    CountingBloomChurn process({m, k, 8, 1}, seed);
    Rises rises(greatest_tallied + 1);
    process.fill(num_keys_for(m));
    process.churn(options.steps, [&](Hash128 digest) {
      scheme.all_positions(digest, [&](std::uint64_t position) {
        ++rises[std::min(process.filter().storage().get(position), greatest_tallied)];
        return true;
      });
    });
    return rises;
  });
  for (const std::uint64_t i : watched) {
    Events events;
    for (const Rises& rises : trials) events.add(rises[i]);
    report.add({.setting = fmt::format("churn of 2^13 counters {} steps per trial", options.steps),
                .quantity = fmt::format("rises of a counter to {} per trial", i),
                .predicted = static_cast<double>(options.steps) * chance_of_rise_to(m, i),
                .measured = events});
  }
  report.add({.setting = "churn of 2^20 counters",
              .quantity = "insertions until one rise to 16 is expected",
              .predicted = 1 / chance_of_rise_to(1 << 20, 16)});
}

void run(const Options& options, Report& report) {
  add_size(1 << 10, 100 * options.trials, options, report);
  add_size(1 << 16, 20 * options.trials, options, report);
  add_size(1 << 20, options.trials, options, report);
  report.add({.setting = "four bits",
              .quantity = "Pr(largest >= 16) over m at most",
              .published = "1.37e-15",
              .predicted = theory::counter_overflow_bound_best_k(1, 16)});
  report.add({.setting = "four bits",
              .quantity = "counters at which that bound is 1%",
              .predicted = 0.01 / theory::counter_overflow_bound_best_k(1, 16)});
  add_churn(options, report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Fan et al. 2000: the largest counter of a counting Bloom filter",
                         .usual = {.trials = 1000, .steps = 1 << 16},
                         .small = {.trials = 10, .steps = 1 << 14},
                         .run = run});
}

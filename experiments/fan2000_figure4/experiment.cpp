// Fan et al. 2000 (Summary Cache), Figure 4: the probability of a false positive against bits per key, for four hash
// functions and for the best number of them. README.md has the claims.

#include <cmath>

#include "bloom_trials.hpp"
#include "run_experiment.hpp"
#include "tally/theory/bloom.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t num_keys = 10'000;
constexpr std::uint64_t num_queries = 20'000;

void add_filters(std::uint64_t bits_per_key, std::uint32_t k, std::string hashes, const Options& options,
                 Report& report) {
  const BloomShape shape{bits_per_key * num_keys, k};
  const double predicted = theory::false_positive_probability_occupancy(shape.num_bits, k, num_keys);
  const std::string name = fmt::format("{} at {} bits per key", hashes, bits_per_key);
  const std::uint64_t queries = predicted > 1e-4 ? num_queries : 0;
  const auto rates = run_trials(options, name, options.trials, [&](std::uint64_t seed) {
    return bloom_trial(shape, num_keys, queries, seed);
  });
  add_rates({.setting = name, .x = static_cast<double>(bits_per_key), .predicted = predicted}, rates, queries,
            report);
}

void add_claims(Report& report) {
  const auto add = [&](std::string quantity, std::string published, double predicted) {
    report.add({.setting = "10 bits per key",
                .quantity = std::move(quantity),
                .published = std::move(published),
                .predicted = predicted});
  };
  const auto rate = [](std::uint32_t k) {
    return theory::false_positive_probability_approximate(10 * num_keys, k, num_keys);
  };
  add("4 hash functions", "0.012", rate(4));
  add("5 hash functions", "0.009", rate(5));
  add("the best number of hash functions", "5", theory::best_num_hashes(10 * num_keys, num_keys));
  add("7 hash functions", "", rate(7));
  for (std::uint64_t bits = 2; bits <= 32; ++bits) {
    const std::uint64_t m = bits * num_keys;
    const auto add_point = [&](std::string curve, double value) {
      report.add({.setting = "curve " + curve,
                  .quantity = curve,
                  .x = static_cast<double>(bits),
                  .predicted = value});
    };
    add_point("k = 4", theory::false_positive_probability_approximate(m, 4, num_keys));
    add_point("best k", theory::false_positive_probability_approximate(
                            m, theory::best_num_hashes(m, num_keys), num_keys));
    add_point("straight line", theory::best_false_positive_probability(m, num_keys));
  }
}

void run(const Options& options, Report& report) {
  for (const std::uint64_t bits : {4, 6, 8, 10, 12, 16, 20, 24, 32}) {
    add_filters(bits, 4, "4 hash functions", options, report);
    add_filters(bits, theory::best_num_hashes(bits * num_keys, num_keys), "best k", options, report);
  }
  add_claims(report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Fan et al. 2000, Figure 4: false positives against bits per key",
                         .usual = {.trials = 1000},
                         .small = {.trials = 20},
                         .run = run});
}

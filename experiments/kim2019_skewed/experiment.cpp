// Kim et al. 2019, equation 3 on streams with heavy keys, where it fails, beside the compound Poisson law. README.md
// has the claims.

#include <algorithm>
#include <cmath>

#include "fresh_filters.hpp"
#include "run_experiment.hpp"
#include "tally/theory/compound_poisson.hpp"
#include "tally/theory/threshold.hpp"
#include "weighted_draw.hpp"

namespace tally::experiments {
namespace {

constexpr std::uint64_t m = 1 << 15;
constexpr std::uint64_t n = 1 << 16;  // insertions
constexpr std::uint64_t num_ranks = 1 << 20;
constexpr std::uint64_t num_queries = 20000;
struct Setting {
  std::uint64_t theta;
  std::uint32_t k;
};
constexpr Setting settings[] = {{2, 2}, {5, 2}, {10, 2}, {5, 4}};

struct Result {
  FilterRate plain;
  FilterRate conservative;
};

/// One stream, and every filter over it.
std::vector<Result> stream_trial(const test::WeightedDraw& ranks, std::uint64_t seed) {
  test::Random random(seed);
  const std::uint64_t salt = random.next();
  std::vector<Hash128> stream(n);
  for (Hash128& digest : stream) {
    const std::uint64_t rank = ranks(random);
    digest = {mix64(salt + rank), mix64(salt ^ (rank << 32))};
  }
  std::vector<Result> results;
  for (const Setting& setting : settings) {
    const auto rate = [&](CounterUpdate update) {
      ThresholdFilter<StandardScheme> filter({m, setting.k, setting.theta, update}, KeyHasher(0));
      insert_all(filter, stream);
      return rate_of(filter, update == CounterUpdate::plain ? num_queries : 0, random);
    };
    const FilterRate plain = rate(CounterUpdate::plain);
    results.push_back({plain, rate(CounterUpdate::conservative)});
  }
  return results;
}

void add_setting(double exponent, const Setting& setting, const std::vector<Result>& results,
                 Report& report) {
  const std::uint64_t theta = setting.theta;
  const std::uint32_t k = setting.k;
  std::vector<FilterRate> plain;
  Mean plain_mean;
  Mean conservative_mean;
  for (const Result& result : results) {
    plain.push_back(result.plain);
    plain_mean.add(result.plain.final_state);
    conservative_mean.add(result.conservative.final_state);
  }
  const theory::CountHistogram histogram = theory::zipf_count_histogram(num_ranks, exponent, n, 100);
  const double compound = theory::compound_threshold_false_positive_probability(histogram, theta, k, m);
  const double simple = theory::threshold_false_positive_probability_approximate(theta, k, n, m);
  const std::string name = fmt::format("Zipf {} theta {} k {}", exponent, theta, k);
  const auto add = [&](std::string quantity, Claim claim, double predicted, const Mean& mean) {
    report.add({.setting = name,
                .quantity = std::move(quantity),
                .x = exponent,
                .claim = claim,
                .predicted = predicted,
                .measured = mean});
  };
  add_rates({.setting = name, .x = exponent, .predicted = compound}, plain, compound > 1e-4 ? num_queries : 0,
            report);
  add("the same beside equation 3", compound < simple ? Claim::below : Claim::above, simple, plain_mean);
  add("conservative update beside the law of plain update", Claim::below, compound, conservative_mean);
  report.add({.setting = name,
              .quantity = "equation 3 over the measured rate",
              .x = exponent,
              .measured = without_limits(simple / plain_mean.mean(), results.size())});
}

void add_curves(Report& report) {
  for (double exponent = 0; exponent <= 2.001; exponent += 0.05) {
    const theory::CountHistogram histogram = theory::zipf_count_histogram(num_ranks, exponent, n, 100);
    for (const Setting& setting : settings) {
      const auto add = [&](std::string law, double value) {
        report.add({.setting = fmt::format("curve {} theta {} k {}", law, setting.theta, setting.k),
                    .quantity = law,
                    .x = exponent,
                    .predicted = value});
      };
      add("compound",
          theory::compound_threshold_false_positive_probability(histogram, setting.theta, setting.k, m));
      add("equation 3",
          theory::threshold_false_positive_probability_approximate(setting.theta, setting.k, n, m));
    }
  }
}

void run(const Options& options, Report& report) {
  for (const double exponent : {0.0, 0.8, 1.0, 1.2, 1.5}) {
    const test::WeightedDraw ranks = test::WeightedDraw::by_zipf(num_ranks, exponent);
    const auto trials = run_trials(options, fmt::format("Zipf {}", exponent), options.trials,
                                   [&](std::uint64_t seed) { return stream_trial(ranks, seed); });
    for (std::size_t i = 0; i < std::size(settings); ++i) {
      std::vector<Result> results;
      for (const auto& trial : trials) results.push_back(trial[i]);
      add_setting(exponent, settings[i], results, report);
    }
  }
  add_curves(report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Kim et al. 2019: equation 3 and the compound Poisson law on Zipf streams",
                         .usual = {.trials = 500},
                         .small = {.trials = 5},
                         .run = run});
}

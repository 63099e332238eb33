// Bonomi et al. 2006, Table 1: loads of the buckets after 2^20 removals and insertions. README.md has the claims.

#include "run_experiment.hpp"

#include <array>

#include "churn.hpp"
#include "paper_shape.hpp"
#include "tally/hashing/multiplier_buckets.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"

namespace tally::experiments {
namespace {

constexpr std::size_t greatest_load = 9;
constexpr std::array<const char*, greatest_load + 1> simulated{
    "", "1.0000", "0.9999", "0.9990", "0.9920", "0.9502", "0.7655", "0.2868", "0.0022", "0.0000"};
constexpr std::array<const char*, greatest_load + 1> fluid_limit{
    "", "1.0000", "0.9999", "0.9990", "0.9920", "0.9505", "0.7669", "0.2894", "0.0023", "1.681e-27"};

struct Result {
  std::array<std::uint64_t, greatest_load> num_buckets{};  // by cells in use, at least
  bool overflowed = false;
};

template <class Scheme>
Result trial(std::uint64_t steps, std::uint64_t seed) {
  DLeftShape shape = paper_shape;
  shape.moves = DLeftMoves::none;
  DLeftChurn<Scheme> process(shape, seed);
  process.fill(keys_at(6));
  process.churn(steps);
  Result result;
  for (std::uint64_t bucket = 0; bucket < process.table().cells().num_buckets(); ++bucket) {
    for (std::size_t i = process.table().load(bucket); i > 0; --i) ++result.num_buckets[i];
  }
  result.overflowed = process.num_full() != 0;
  return result;
}

template <class Scheme>
void add_rows(const Options& options, bool is_papers, Report& report) {
  const std::string name = fmt::format("simulation {}", Scheme::name);
  const auto results = run_trials(options, name, options.trials,
                                  [&](std::uint64_t seed) { return trial<Scheme>(options.steps, seed); });
  const double steps_per_key = static_cast<double>(options.steps) / static_cast<double>(keys_at(6));
  const theory::DLeftLoads predicted = theory::dleft_loads(4, distinct_load(6), steps_per_key);
  const double at_six = theory::dleft_loads(4, 6, theory::steady_state).fraction(7);
  for (std::size_t i = 1; i < greatest_load; ++i) {
    Mean mean;
    test::MeasuredRate rate(static_cast<std::uint64_t>(paper_num_buckets));
    for (const Result& result : results) {
      mean.add(static_cast<double>(result.num_buckets[i]) / paper_num_buckets);
      rate.add_filter(result.num_buckets[i]);
    }
    // Next to no bucket has a load below 2: too few for Student's law.
    const Measured share = i < 3 ? measured(rate, options.trials) : Measured(mean);
    report.add({.setting = name,
                .quantity = fmt::format("load >= {}", i),
                .x = static_cast<double>(i),
                .published = is_papers ? simulated[i] : "",
                .predicted = predicted.fraction(i),
                .measured = share});
    if (i != 7 || !is_papers) continue;
    report.add({.setting = "simulation below the fluid limit at 6",
                .quantity = "load >= 7",
                .claim = Claim::below,
                .predicted = at_six,
                .measured = share});
  }
  Share overflowed;
  for (const Result& result : results) overflowed.add(result.overflowed);
  report.add({.setting = name,
              .quantity = "trials in which a bucket had to hold 9",
              .published = is_papers ? "0" : "",
              .predicted = 0,
              .measured = overflowed});
}

void run(const Options& options, Report& report) {
  add_rows<MultiplierBuckets>(options, true, report);
  add_rows<RotationBuckets>(options, false, report);
  report.add({.setting = "distinct fingerprints",
              .quantity = "cells in use per bucket",
              .predicted = distinct_load(6)});
  const theory::DLeftLoads steady = theory::dleft_loads(4, 6, theory::steady_state);
  for (std::size_t i = 1; i <= greatest_load; ++i) {
    report.add({.setting = "fluid limit at 6",
                .quantity = fmt::format("load >= {}", i),
                .x = static_cast<double>(i),
                .published = fluid_limit[i],
                .predicted = steady.fraction(i)});
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Bonomi et al. 2006, Table 1: loads of the buckets beside the fluid limit",
                         .usual = {.trials = 200, .steps = 1 << 20},
                         .small = {.trials = 10, .steps = 1 << 19},
                         .run = run});
}

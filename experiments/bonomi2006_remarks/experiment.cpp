// Three remarks of Bonomi et al. 2006: the fourth subtable never has a full bucket; low-order bits as bucket index
// do worse; that only B R collections of choices exist does not matter. README.md has the claims.

#include "run_experiment.hpp"

#include "balls_and_bins.hpp"
#include "churn.hpp"
#include "tally/theory/dleft_overflow.hpp"

namespace tally::experiments {
namespace {

/// Insertions of a trial that fill a bucket of the fourth subtable.
std::uint64_t fourth_subtable_trial(std::uint64_t steps, std::uint64_t seed) {
  DLeftChurn<MultiplierBuckets> process(paper_shape, seed);
  const auto& table = process.table();
  std::uint64_t num_filled = 0;
  const auto watch = [&](Hash128 key) {
    const std::uint64_t image = table.scheme().image(3, paper_shape.fingerprint_space().fingerprint_of(key));
    num_filled += table.load(table.bucket_of(3, image)) == paper_shape.cells_per_bucket &&
                  process.filter().count(key).value == 1;
  };
  process.fill(keys_at(6), watch);
  process.churn(steps, watch);
  return num_filled;
}

/// An insertion goes there where the buckets left of it are full and its own, the last, lacks one cell.
double expected_fillings_of_the_fourth(std::uint64_t steps) {
  const theory::DLeftLoads loads = theory::dleft_loads(4, distinct_load(6), theory::steady_state);
  double probability = loads.fraction(3, 7) - loads.fraction(3, 8);
  for (std::uint32_t j = 0; j < 3; ++j) probability *= loads.fraction(j, 8);
  return static_cast<double>(steps) * probability;
}

struct Result {
  std::uint64_t num_at_7 = 0;
  std::uint64_t num_at_8 = 0;
  std::uint64_t num_overflows = 0;
};

struct Measurements {
  Mean at_7, at_8;
  Events overflows;
};

template <class ChoiceRule>
Measurements measure(const Options& options, double load) {
  const auto results =
      run_trials(options, fmt::format("balls at load {} {}", load, ChoiceRule::name), options.trials,
                 [&](std::uint64_t seed) -> Result {
                   BallsAndBins<ChoiceRule> process(seed);
                   process.fill(keys_at(load));
                   process.churn(options.steps);
                   return {process.num_with_load(7), process.num_with_load(8), process.num_overflows()};
                 });
  Measurements all;
  for (const Result& result : results) {
    all.at_7.add(static_cast<double>(result.num_at_7) / paper_num_buckets);
    all.at_8.add(static_cast<double>(result.num_at_8) / paper_num_buckets);
    all.overflows.add(result.num_overflows);
  }
  return all;
}

/// Whatever the choices, they are claimed to follow the law of independent ones, or, of low bits, to exceed it.
template <class ChoiceRule>
void add_choices(const Options& options, double load, Claim claim, Report& report) {
  const double steps_per_ball = static_cast<double>(options.steps) / static_cast<double>(keys_at(load));
  const theory::DLeftLoads loads = theory::dleft_loads(4, load, steps_per_ball);
  const auto expected = theory::dleft_expected_overflows(4, paper_shape.buckets_per_subtable,
                                                         paper_shape.cells_per_bucket, load, options.steps);
  const Measurements all = measure<ChoiceRule>(options, load);
  const auto add = [&](const char* quantity, double predicted, Measured measured) {
    report.add({.setting = fmt::format("choices {} at load {}", ChoiceRule::name, load),
                .quantity = quantity,
                .x = load,
                .claim = claim,
                .predicted = predicted,
                .measured = std::move(measured)});
  };
  if (claim == Claim::equal) add("load >= 7", loads.fraction(7), all.at_7);
  add("load >= 8", loads.fraction(8), all.at_8);
  add("overflows per trial", expected.filling + expected.churning, all.overflows);
}

void run(const Options& options, Report& report) {
  Share filled;
  for (const std::uint64_t num_filled :
       run_trials(options, "fourth subtable", options.trials,
                  [&](std::uint64_t seed) { return fourth_subtable_trial(options.steps, seed); })) {
    filled.add(num_filled != 0);
  }
  report.add({.setting = "filter at load 6",
              .quantity = "trials in which a bucket of the fourth subtable was full at any time",
              .published = "0",
              .predicted = theory::probability_of_any(expected_fillings_of_the_fourth(options.steps)),
              .measured = filled});
  for (const double load : {6.0, 6.5, 6.75}) {
    add_choices<IndependentChoices>(options, load, Claim::equal, report);
    add_choices<PermutedChoices<MultiplierBuckets>>(options, load, Claim::equal, report);
    add_choices<PermutedChoices<RotationBuckets>>(options, load, Claim::equal, report);
    add_choices<LowBitsChoices>(options, load, Claim::above, report);
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(
      argc, argv,
      {.about = "Bonomi et al. 2006: remarks on the fourth subtable and on the choices of buckets",
       .usual = {.trials = 200, .steps = 1 << 20},
       .small = {.trials = 10, .steps = 1 << 17},
       .run = run});
}

// Bonomi et al. 2006, Section 3.2: how often a deletion under one-phase hashing finds more than one copy of its remainder.
// README.md has the claims.

#include "run_experiment.hpp"

#include <cmath>

#include "ambiguity_law.hpp"
#include "one_table.hpp"

namespace tally::experiments {
namespace {

struct Result {
  std::uint64_t num_ambiguous = 0;
  std::uint64_t num_wrong = 0;
  std::uint64_t num_lost = 0;
  std::uint64_t num_left_behind = 0;
};

template <class Hash>
std::vector<Result> simulate(Deletion deletion, const std::string& name, const Options& options) {
  return run_trials(options, name, options.trials, [&](std::uint64_t seed) -> Result {
    OneTable<Hash> table(deletion, seed);
    table.fill(keys_at(6));
    // What is counted are the deletions of the steady state.
    table.churn(options.steps);
    const std::uint64_t before = table.num_ambiguous();
    const std::uint64_t wrong_before = table.num_wrong();
    const std::uint64_t left_before = table.num_left_behind();
    table.churn(options.steps);
    return {table.num_ambiguous() - before, table.num_wrong() - wrong_before, table.num_lost(),
            table.num_left_behind() - left_before};
  });
}

Measured divided(const Measured& measured, double divisor) {
  return {measured.value / divisor, measured.trials, [=](double confidence) -> Limits {
            const Limits limits = measured.limits(confidence);
            return {limits.low / divisor, limits.high / divisor};
          }};
}

void run(const Options& options, Report& report) {
  const auto n = static_cast<double>(keys_at(6));
  const auto steps = static_cast<double>(options.steps);
  const AmbiguityLaw law = ambiguity_law(num_subtables, distinct_load(6), num_remainders);
  const auto add = [&](std::string setting, std::string quantity, std::optional<double> predicted,
                       Measured measured) {
    report.add({.setting = std::move(setting),
                .quantity = std::move(quantity),
                .x = 14,
                .predicted = predicted,
                .measured = std::move(measured)});
  };
  {
    Mean ambiguous;
    for (const Result& result : simulate<OnePhase>(Deletion::own, "one phase; own copy", options))
      ambiguous.add(static_cast<double>(result.num_ambiguous) / steps);
    add("one phase; the own copy is deleted", "deletions that find several copies", law.left + law.right,
        ambiguous);
  }
  {
    Mean ambiguous, wrong, lost, left_behind;
    for (const Result& result : simulate<OnePhase>(Deletion::leftmost, "one phase; leftmost copy", options)) {
      ambiguous.add(static_cast<double>(result.num_ambiguous) / steps);
      wrong.add(static_cast<double>(result.num_wrong) / steps);
      lost.add(static_cast<double>(result.num_lost) / n);
      left_behind.add(static_cast<double>(result.num_left_behind));
    }
    const char* setting = "one phase; the leftmost copy is deleted";
    add(setting, "deletions that find several copies", law.left + law.right, ambiguous);
    add(setting, "deletions that take the copy of another key", law.left, wrong);
    add(setting, "keys of the set that are not found at the end", law.left * -std::expm1(-2 * steps / n),
        lost);
    add(setting, fmt::format("copies left behind by {} deletions", options.steps), law.left * steps,
        left_behind);
  }
  {
    Events ambiguous;
    for (const Result& result : simulate<TwoPhases>(Deletion::leftmost, "two phases", options))
      ambiguous.add(result.num_ambiguous + result.num_wrong + result.num_lost);
    add("two phases", "deletions that find several copies", 0, divided(ambiguous, steps));
  }
  const auto add_formula = [&](std::string quantity, double value) {
    report.add({.setting = "formula", .quantity = std::move(quantity), .predicted = value});
  };
  add_formula("deletions that find several copies", law.left + law.right);
  add_formula("the same if the buckets not chosen had average loads", law.apart);
  add_formula("deletions from one that finds several copies to the next", 1 / (law.left + law.right));
  for (const std::uint32_t r : {6u, 8u, 10u, 12u, 14u, 16u, 18u, 20u, 22u}) {
    const AmbiguityLaw at = ambiguity_law(num_subtables, 6, std::exp2(r));
    report.add(
        {.setting = "curve formula", .quantity = "ambiguous", .x = r, .predicted = at.left + at.right});
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "Bonomi et al. 2006, Section 3.2: the ambiguity of one-phase hashing",
                         .usual = {.trials = 200, .steps = 1 << 20},
                         .small = {.trials = 10, .steps = 1 << 17},
                         .run = run});
}

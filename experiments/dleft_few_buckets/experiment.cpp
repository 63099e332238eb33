// How often d-left tables without moves are full, by the number of buckets. README.md has the claim.

#include "run_experiment.hpp"

#include "churn.hpp"
#include "splitting.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/theory/dleft_overflow.hpp"

namespace tally::experiments {
namespace {

using Process = DLeftChurn<RotationBuckets>;

constexpr std::uint64_t replacements_per_key = 5;

std::string name_of(const FewBucketsSetting& setting) {
  return fmt::format("{}x{} {} {} buckets", setting.d, setting.c,
                     setting.is_replaced ? "with churn" : "insert only", setting.B);
}

/// The planned probability that any insertion of the life is refused.
double planned_chance(const FewBucketsSetting& setting, std::uint64_t num_replacements) {
  const auto num_cells = static_cast<double>(setting.d * setting.B * setting.c);
  return planned_dleft_failure_probability(setting.d, setting.B, setting.c, setting.n, num_replacements,
                                           static_cast<double>(setting.n) / num_cells);
}

/// The same of one replacement. The planner counts the insertions of the filling as replacements.
double planned_chance_of_one(const FewBucketsSetting& setting) {
  if (!setting.is_replaced) return planned_chance(setting, 0);
  return -std::log1p(-planned_chance(setting, 1)) / static_cast<double>(setting.n + 1);
}

/// The most elements with which `chance` is at most `most`.
template <class Chance>
void set_most_elements(FewBucketsSetting& setting, double most, const Chance& chance) {
  std::uint64_t low = 1;
  std::uint64_t high = setting.d * setting.B * setting.c + 1;
  while (high - low > 1) {
    setting.n = low + (high - low) / 2;
    (chance(setting) <= most ? low : high) = setting.n;
  }
  setting.n = low;
}

/// At the load that is planned for a chance, overflows are at most that frequent.
void report_rates(const Options& options, Report& report) {
  for (const std::uint32_t d : {2u, 3u, 4u}) {
    for (const std::uint32_t c : {8u, 16u, 32u}) {
      for (const bool is_replaced : {false, true}) {
        for (const std::uint64_t B : {2ull, 4ull, 16ull, 64ull}) {
          if (B * d > (options.small ? 12 : 256)) continue;
          // A filling with more choices is slow to split, and its rates are too inexact.
          if (!is_replaced && d > 2 && B > 4) continue;
          for (const double most : {1e-5, is_replaced ? 1e-13 : 1e-8}) {
            // Splitting of a filling with three or four choices is too inexact there.
            if (!is_replaced && d > 2 && most < 1e-5) continue;
            FewBucketsSetting setting{.d = d, .B = B, .c = c, .n = 0, .is_replaced = is_replaced};
            set_most_elements(setting, most, planned_chance_of_one);
            if (setting.n <= std::uint64_t{d} * c) continue;  // never full
            const Splitting splitting(setting, (options.small ? 300 : 1000) * (d - 1), options.seed);
            Mean rate;
            for (const double each : run_trials(options, name_of(setting), options.trials,
                                                [&](std::uint64_t seed) { return splitting.trial(seed); }))
              rate.add(each);
            const bool is_seen = rate.quantile(0.1) > 0;  // else the limits would mean nothing
            report.add({.setting = fmt::format("{} {} elements", name_of(setting), setting.n),
                        .quantity = is_replaced ? "overflows per replacement" : "any overflow",
                        .x = static_cast<double>(B),
                        .claim = Claim::below,
                        .predicted = is_seen ? std::optional(planned_chance_of_one(setting)) : std::nullopt,
                        .measured = rate});
          }
        }
      }
    }
  }
}

/// Filters with as many keys as are planned with a chance of at most 0.2 are full at any time at most that often.
void report_filters(const Options& options, Report& report) {
  for (const auto& [d, c] : {std::pair(2u, 8u), std::pair(4u, 8u), std::pair(2u, 32u)}) {
    for (const bool is_replaced : {false, true}) {
      for (const std::uint64_t B : {2ull, 4ull, 16ull, 64ull, 256ull, 1024ull, 1ull << 14, 1ull << 17}) {
        if (B * d * c > (options.small ? 1u << 12 : is_replaced || c > 8 ? 1u << 18 : 1u << 22)) continue;
        FewBucketsSetting setting{.d = d, .B = B, .c = c, .n = 0, .is_replaced = is_replaced};
        const auto chance = [](const FewBucketsSetting& each) {
          return planned_chance(each, each.is_replaced ? replacements_per_key * each.n : 0);
        };
        set_most_elements(setting, 0.2, chance);
        const std::uint64_t num_replacements = is_replaced ? replacements_per_key * setting.n : 0;
        const std::uint64_t num_trials = options.small ? 20
                                         : B > 1024    ? std::max(std::uint64_t{8}, (1u << 18) / B)
                                                       : options.other_trials;
        Share full;
        for (const bool each : run_trials(options, name_of(setting), num_trials, [&](std::uint64_t seed) {
               Process process({.buckets_per_subtable = B,
                                .num_subtables = setting.d,
                                .cells_per_bucket = setting.c,
                                .remainder_bits = 22,
                                .least_remainder_bits = 22,
                                .moves = DLeftMoves::none},
                               seed);
               process.fill(setting.n);
               for (std::uint64_t i = 0; process.num_full() == 0 && i < num_replacements; ++i)
                 process.churn(1);
               return process.num_full() > 0;
             }))
          full.add(each);
        report.add({.setting = name_of(setting),
                    .quantity = "share of the filters that are full at any time",
                    .x = static_cast<double>(B),
                    .claim = Claim::below,
                    .predicted = chance(setting),
                    .measured = full});
      }
    }
  }
}

void run(const Options& options, Report& report) {
  report_rates(options, report);
  report_filters(options, report);
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  return run_experiment(argc, argv,
                        {.about = "How often d-left tables without moves are full, by the number of buckets",
                         .usual = {.trials = 20, .other_trials = 200},
                         .small = {.trials = 20},
                         .other_trials = "Filters of up to 1024 buckets per subtable",
                         .run = run});
}

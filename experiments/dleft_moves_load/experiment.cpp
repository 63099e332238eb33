// The load that general moves carry: when the first insertion finds no room. README.md has the claims.

#include "run_experiment.hpp"

#include <CLI/CLI.hpp>

#include "churn.hpp"
#include "tally/hashing/rotation_buckets.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/dleft_safe_load.hpp"

namespace tally::experiments {
namespace {

using Process = DLeftChurn<RotationBuckets>;

struct Cells {
  std::uint32_t d, c;
  double claimed = 0;  // of the mean load, as a share of the cells
};

DLeftShape shape_of(const Cells& cells, std::uint64_t num_cells) {
  return {.buckets_per_subtable = num_cells / (cells.d * cells.c),
          .num_subtables = cells.d,
          .cells_per_bucket = cells.c,
          .moves = DLeftMoves::search};
}

double load_of(const Process& process) {
  return static_cast<double>(process.table().num_fingerprints()) /
         static_cast<double>(process.table().shape().num_cells());
}

/// Inserts until there are `num_keys` keys, or one finds no room.
bool fills(Process& process, std::uint64_t num_keys) {
  while (process.num_full() == 0 && process.num_keys() < num_keys) process.fill(process.num_keys() + 1);
  return process.num_full() == 0;
}

/// Removes and inserts `num_steps` times, or until an insertion finds no room.
bool churns(Process& process, std::uint64_t num_steps) {
  for (std::uint64_t i = 0; process.num_full() == 0 && i < num_steps; ++i) process.churn(1);
  return process.num_full() == 0;
}

/// The load at the first insertion that finds no room. A full table refuses before it has a key a cell.
double insert_only_trial(const DLeftShape& shape, std::uint64_t seed) {
  Process process(shape, seed);
  while (fills(process, process.num_keys() + shape.num_cells())) {
  }
  return load_of(process);
}

/// The highest load, from 15/16 of the cells on in steps of 1/256, that lasts while every key is replaced `lifetimes`
/// times; 0 if not even the first does.
double churn_trial(const DLeftShape& shape, double lifetimes, std::uint64_t seed) {
  Process process(shape, seed);
  double carried = 0;
  for (std::uint64_t part = 240; part <= 256; ++part) {
    const std::uint64_t num_keys = shape.num_cells() * part / 256;
    const auto num_steps = static_cast<std::uint64_t>(lifetimes * static_cast<double>(num_keys));
    if (!fills(process, num_keys) || !churns(process, num_steps)) break;
    carried = load_of(process);
  }
  return carried;
}

template <class Trial>
void add_rows(const Cells& cells, const char* mode, std::uint64_t num_cells, std::uint64_t num_trials,
              std::optional<double> claimed, const Options& options, Report& report, Trial trial) {
  const std::string setting = fmt::format("{}x{} {} {} cells", cells.d, cells.c, mode, num_cells);
  Mean load;
  for (const double each : run_trials(options, setting, num_trials, trial)) load.add(each);
  const auto add = [&](const char* quantity, std::optional<double> predicted, Measured measured) {
    report.add({.setting = setting,
                .quantity = quantity,
                .x = static_cast<double>(num_cells),
                .claim = Claim::above,
                .predicted = predicted,
                .measured = std::move(measured)});
  };
  add("mean load", claimed, load);
  add("least", {}, without_limits(load.least(), num_trials));
  add("0.01 quantile", {}, without_limits(load.quantile(0.01), num_trials));
  add("median", {}, without_limits(load.quantile(0.5), num_trials));
}

void run(const Options& options, double lifetimes, Report& report) {
  constexpr std::uint64_t small_size = 1 << 12;
  constexpr std::uint64_t middle_size = 1 << 16;
  constexpr std::uint64_t large_size = 1 << 20;
  constexpr Cells all_cells[] = {
      {2, 8}, {3, 8}, {4, 8, 7.6 / 8}, {2, 16}, {3, 16}, {4, 16}, {2, 32, 31.0 / 32}, {3, 32}, {4, 32}};
  for (const Cells& cells : all_cells) {
    const bool is_claimed = cells.claimed > 0;
    if (options.small && !is_claimed) continue;
    const auto insert_only = [&](std::uint64_t num_cells) {
      add_rows(cells, "insert only", num_cells, options.trials,
               is_claimed ? std::optional(cells.claimed) : std::nullopt, options, report,
               [&](std::uint64_t seed) { return insert_only_trial(shape_of(cells, num_cells), seed); });
    };
    const auto with_churn = [&](std::uint64_t num_cells) {
      add_rows(cells, "with churn", num_cells, options.trials, {}, options, report,
               [&](std::uint64_t seed) { return churn_trial(shape_of(cells, num_cells), lifetimes, seed); });
    };
    insert_only(small_size);
    insert_only(middle_size);
    if (is_claimed && !options.small) insert_only(large_size);
    with_churn(small_size);
    if (is_claimed && !options.small) with_churn(middle_size);
    for (const double steps_per_key : {theory::insert_only, theory::steady_state}) {
      const bool churns = steps_per_key != theory::insert_only;
      report.add(
          {.setting =
               fmt::format("{}x{} {} without moves", cells.d, cells.c, churns ? "with churn" : "insert only"),
           .quantity = "load at which 1e-9 of the buckets are overfull",
           .predicted = theory::dleft_safe_load_for_share(cells.d, cells.c, 1e-9, steps_per_key) / cells.c});
    }
  }
}

}  // namespace
}  // namespace tally::experiments

int main(int argc, char** argv) {
  using namespace tally::experiments;
  double lifetimes = 2;
  return run_experiment(
      argc, argv,
      {.about =
           "The load that general moves carry, by shape and number of cells; --steps has no meaning here",
       .usual = {.trials = 200},
       .small = {.trials = 20},
       .run = [&](const Options& options,
                  Report& report) { run(options, options.small ? 1 : lifetimes, report); },
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--lifetimes", lifetimes, "With churn: replacements of every key at each load")
                 ->capture_default_str();
           }});
}
